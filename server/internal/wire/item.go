package wire

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
)

// Item is what a run says. Each type has fields of its own.
type Item struct {
	_ struct{} `doc:"What a run says, by its type. Ignore a type that you do not know."`

	RunStarted         *runStartedItem
	TextMessageStart   *textMessageStartItem
	TextMessageContent *textMessageContentItem
	TextMessageEnd     *textMessageEndItem
	ReasoningStart     *reasoningStartItem
	ReasoningContent   *reasoningContentItem
	ReasoningEnd       *reasoningEndItem
	ToolCallStart      *toolCallStartItem
	ToolCallArgs       *toolCallArgsItem
	ToolCallEnd        *toolCallEndItem
	ToolCallResult     *toolCallResultItem
	StepFinished       *stepFinishedItem
	InputRequired      *inputRequiredItem
	SubagentStarted    *subagentStartedItem
	SubagentEvent      *subagentEventItem
	SubagentFinished   *subagentFinishedItem
	Custom             *customItem
	RunFinished        *runFinishedItem
	RunError           *runErrorItem
}

// subagentItem is what a nested run says.
type subagentItem struct {
	_ struct{} `doc:"What a nested run says, by its type: as an item, without an offset."`

	TextMessageStart   *textMessageStart
	TextMessageContent *textMessageContent
	TextMessageEnd     *textMessageEnd
	ReasoningStart     *reasoningStart
	ReasoningContent   *reasoningContent
	ReasoningEnd       *reasoningEnd
	ToolCallStart      *toolCallStart
	ToolCallArgs       *toolCallArgs
	ToolCallEnd        *toolCallEnd
	ToolCallResult     *toolCallResult
}

// place is where an item stands in its stream.
type place struct {
	Offset string `doc:"Where it stands in its stream: two numbers that grow." example:"7-1" json:"offset"`
}

// subagentSays are the fields of an item that wraps one of a nested run.
type subagentSays struct {
	SubagentID spool.AgentID            `doc:"The nested run." json:"subagentId"`
	Event      rest.OneOf[subagentItem] `doc:"What it says."   json:"event"`
}

type (
	runStartedItem struct {
		_ struct{} `doc:"The stream opens."`

		Type spool.ItemType `const:"RUN_STARTED" json:"type"`
		spool.StreamStarted
		place
	}

	textMessageStart struct {
		_ struct{} `doc:"A text begins."`

		Type spool.ItemType `const:"TEXT_MESSAGE_START" json:"type"`
		spool.Block
	}

	textMessageStartItem struct {
		_ struct{} `doc:"A text begins."`

		textMessageStart
		place
	}

	textMessageContent struct {
		_ struct{} `doc:"A piece of a text."`

		Type spool.ItemType `const:"TEXT_MESSAGE_CONTENT" json:"type"`
		spool.Delta
	}

	textMessageContentItem struct {
		_ struct{} `doc:"A piece of a text."`

		textMessageContent
		place
	}

	textMessageEnd struct {
		_ struct{} `doc:"A text ends."`

		Type spool.ItemType `const:"TEXT_MESSAGE_END" json:"type"`
		spool.Block
	}

	textMessageEndItem struct {
		_ struct{} `doc:"A text ends."`

		textMessageEnd
		place
	}

	reasoningStart struct {
		_ struct{} `doc:"Reasoning begins."`

		Type spool.ItemType `const:"REASONING_START" json:"type"`
		spool.Block
	}

	reasoningStartItem struct {
		_ struct{} `doc:"Reasoning begins."`

		reasoningStart
		place
	}

	reasoningContent struct {
		_ struct{} `doc:"A piece of reasoning."`

		Type spool.ItemType `const:"REASONING_CONTENT" json:"type"`
		spool.Delta
	}

	reasoningContentItem struct {
		_ struct{} `doc:"A piece of reasoning."`

		reasoningContent
		place
	}

	reasoningEnd struct {
		_ struct{} `doc:"Reasoning ends."`

		Type spool.ItemType `const:"REASONING_END" json:"type"`
		spool.Block
	}

	reasoningEndItem struct {
		_ struct{} `doc:"Reasoning ends."`

		reasoningEnd
		place
	}

	toolCallStart struct {
		_ struct{} `doc:"A call begins."`

		Type spool.ItemType `const:"TOOL_CALL_START" json:"type"`
		spool.ToolStarted
	}

	toolCallStartItem struct {
		_ struct{} `doc:"A call begins."`

		toolCallStart
		place
	}

	toolCallArgs struct {
		_ struct{} `doc:"A piece of the arguments, as JSON text."`

		Type spool.ItemType `const:"TOOL_CALL_ARGS" json:"type"`
		spool.ToolArgs
	}

	toolCallArgsItem struct {
		_ struct{} `doc:"A piece of the arguments, as JSON text."`

		toolCallArgs
		place
	}

	toolCallEnd struct {
		_ struct{} `doc:"A call is complete."`

		Type spool.ItemType `const:"TOOL_CALL_END" json:"type"`
		spool.ToolEnded
	}

	toolCallEndItem struct {
		_ struct{} `doc:"A call is complete."`

		toolCallEnd
		place
	}

	toolCallResult struct {
		_ struct{} `doc:"What the call gave."`

		Type spool.ItemType `const:"TOOL_CALL_RESULT" json:"type"`
		spool.ToolResulted
	}

	toolCallResultItem struct {
		_ struct{} `doc:"What the call gave."`

		toolCallResult
		place
	}

	stepFinishedItem struct {
		_ struct{} `doc:"All that its agent said before is saved."`

		Type spool.ItemType `const:"STEP_FINISHED" json:"type"`
		spool.StepFinished
		place
	}

	inputRequiredItem struct {
		_ struct{} `doc:"A call waits for an answer."`

		Type spool.ItemType `const:"INPUT_REQUIRED" json:"type"`
		spool.InputRequired
		place
	}

	subagentStartedItem struct {
		_ struct{} `doc:"A nested run begins, or goes on."`

		Type spool.ItemType `const:"SUBAGENT_STARTED" json:"type"`
		spool.SubagentStarted
		place
	}

	subagentEventItem struct {
		_ struct{} `doc:"What a nested run says."`

		Type spool.ItemType `const:"SUBAGENT_EVENT" json:"type"`
		subagentSays
		place
	}

	subagentFinishedItem struct {
		_ struct{} `doc:"A nested run has ended."`

		Type spool.ItemType `const:"SUBAGENT_FINISHED" json:"type"`
		spool.SubagentFinished
		place
	}

	customItem struct {
		_ struct{} `doc:"An application's own live event."`

		Type spool.ItemType `const:"CUSTOM" json:"type"`
		spool.Custom
		place
	}

	runFinishedItem struct {
		_ struct{} `doc:"The segment came to its end. The last item."`

		Type spool.ItemType `const:"RUN_FINISHED" json:"type"`
		spool.StreamFinished
		place
	}

	runErrorItem struct {
		_ struct{} `doc:"The segment did not come to its end. The last item."`

		Type spool.ItemType `const:"RUN_ERROR" json:"type"`
		spool.StreamFailed
		place
	}
)
