package gemini

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// The roles of contents.
const (
	roleUser  = "user"
	roleModel = "model"
)

// content is a message of a request. Its parts are of the type part, or the JSON of a part that the adapter does
// not look into.
type content struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"`
}

// part is a part of a request.
type part struct {
	// Text is set for a text, also for an empty one.
	Text      *string           `json:"text,omitempty"`
	Thought   bool              `json:"thought,omitempty"`
	Signature string            `json:"thoughtSignature,omitempty"`
	Inline    *blob             `json:"inlineData,omitempty"`
	File      *file             `json:"fileData,omitempty"`
	Call      *functionCall     `json:"functionCall,omitempty"`
	Response  *functionResponse `json:"functionResponse,omitempty"`
}

// blob is a file inside a request. Data is base64.
type blob struct {
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
}

// file is a file that the provider fetches.
type file struct {
	MIMEType string `json:"mimeType,omitempty"`
	URI      string `json:"fileUri"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`

	// The Gemini API does not use these. Only the other backend sends arguments in pieces.
	PartialArgs  json.RawMessage `json:"partialArgs,omitempty"`
	WillContinue bool            `json:"willContinue,omitempty"`
}

type functionResponse struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
	Parts    []any           `json:"parts,omitempty"`
}

// chunk is one event of an answer.
type chunk struct {
	Candidates     []candidate     `json:"candidates"`
	PromptFeedback *feedback       `json:"promptFeedback"`
	Usage          *usage          `json:"usageMetadata"`
	ModelVersion   string          `json:"modelVersion"`
	Error          json.RawMessage `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason      string `json:"finishReason"`
	FinishMessage     string `json:"finishMessage"`
	ContinuationToken string `json:"continuationToken"`
}

type feedback struct {
	BlockReason string `json:"blockReason"`
}

// answerPart is a part of an answer. A part without a text and without a call is one that the adapter does not look
// into.
type answerPart struct {
	Text      *string       `json:"text"`
	Thought   bool          `json:"thought"`
	Signature string        `json:"thoughtSignature"`
	Call      *functionCall `json:"functionCall"`
}

type usage struct {
	Prompt     *int64 `json:"promptTokenCount"`
	Cached     *int64 `json:"cachedContentTokenCount"`
	Candidates *int64 `json:"candidatesTokenCount"`
	Thoughts   *int64 `json:"thoughtsTokenCount"`
	ToolUse    *int64 `json:"toolUsePromptTokenCount"`
}

// usage returns the reported counts. Google counts the thoughts apart from the answer, and the prompts of its own tools
// apart from the prompt. Counts that were not reported are nil.
func (u usage) usage() spool.Usage {
	return spool.Usage{Input: sum(u.Prompt, u.ToolUse), Output: sum(u.Candidates, u.Thoughts), CacheRead: u.Cached, Reasoning: u.Thoughts}
}

// sum returns the sum of the counts that are not nil, or nil if all are.
func sum(counts ...*int64) *int64 {
	var total *int64
	for _, n := range counts {
		if n == nil {
			continue
		}
		if total == nil {
			total = new(int64)
		}
		*total += *n
	}
	return total
}
