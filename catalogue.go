package spool

// The tools with which a model finds and describes the tools of its catalogue: see [Tool.Search].
const (
	SearchTool   = "searchTools"
	DescribeTool = "describeTools"
)

// MaxDescribed is how many tools of its catalogue a run can call. Providers bound the tools of a request: some take
// 128.
const MaxDescribed = 64
