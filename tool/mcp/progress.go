package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// EventProgress is the type of the event with which a call of a tool says how far it is: see [Progress]. It is live, so
// it may get lost.
const EventProgress = "tool_progress"

const (
	// minProgress is the time between two events of a call. What comes earlier is dropped, unless it is the end.
	minProgress = 100 * time.Millisecond
	// maxProgressText bounds the text of an event, in bytes.
	maxProgressText = 500
)

// Progress is the payload of [EventProgress].
type Progress struct {
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	// Progress grows. Its unit is the server's.
	Progress float64 `json:"progress"`
	// Total is what Progress ends with. Zero: the server does not know.
	Total   float64 `json:"total,omitempty"`
	Message string  `json:"message,omitempty"`
}

// progress publishes how far a call is.
func (s *Server) progress(ctx context.Context, params *sdk.ProgressNotificationParams) {
	id, _ := params.ProgressToken.(string)
	o := s.opened(id)
	if o == nil {
		return
	}
	s.mu.Lock()
	call, early := o.call, time.Since(o.published) < minProgress && (params.Total <= 0 || params.Progress < params.Total)
	if !early {
		o.published = time.Now()
	}
	s.mu.Unlock()
	if early {
		return
	}
	_ = call.Publish(ctx, EventProgress, Progress{ // nobody waits for it
		ToolCallID: string(call.ID), ToolName: call.Name, Progress: params.Progress, Total: params.Total,
		Message: cut(s.clean(params.Message), maxProgressText),
	})
}
