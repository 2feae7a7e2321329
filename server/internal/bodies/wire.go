// Package bodies has the types of bodies that spool and engine write themselves, as clients see them:
// frames, entries, items, messages and runs, each with the words of the document. It knows nothing of
// requests.
package bodies

import (
	"maps"
	"reflect"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/aisdk"
	"github.com/spoolhq/spool/wire"
)

// Frame is one message of a live stream.
type Frame struct {
	_ struct{} // One message of the stream, by its kind. Ignore a kind that you do not know.

	Thread   *threadFrame
	Stream   *streamFrame
	Snapshot *snapshotFrame
}

type (
	threadFrame struct {
		Kind  wire.FrameKind `const:"thread" json:"kind"`
		Event wire.Entry     `json:"event"` // An entry of the record, or a notice.
	}

	streamFrame struct {
		Kind     wire.FrameKind `const:"stream"  json:"kind"`
		StreamID wire.StreamID  `json:"streamId"` // The stream.
		Item     wire.Item      `json:"item"`     // The item.
	}

	snapshotFrame struct {
		Kind     wire.FrameKind `const:"snapshot" json:"kind"`
		Snapshot wire.Snapshot  `json:"snapshot"` // The snapshot that replaces missed frames.
	}
)

// names are the names of types in the document whose Go names are missing or too short to be clear.
var names = map[reflect.Type]string{
	reflect.TypeFor[wire.RunOutcome]():                  "RunOutcome",
	reflect.TypeFor[spool.Answer]():                     "ParkAnswer",
	reflect.TypeFor[spool.Cost]():                       "UsageCost",
	reflect.TypeFor[wire.InputExpiring]():               "InputExpiry",
	reflect.TypeFor[spool.Usage]():                      "UsageCounts",
	reflect.TypeFor[wire.RunJSON]():                     "Run",
	reflect.TypeFor[aisdk.Approval]():                   "ChatApproval",
	reflect.TypeFor[aisdk.Caller]():                     "ChatCaller",
	reflect.TypeFor[aisdk.Chunk]():                      "ChatChunk",
	reflect.TypeFor[aisdk.Message]():                    "ChatMessage",
	reflect.TypeFor[aisdk.Metadata]():                   "ChatMetadata",
	reflect.TypeFor[aisdk.Part]():                       "ChatPart",
	reflect.TypeFor[aisdk.TurnPart]():                   "ChatTurnPart",
	reflect.TypeFor[aisdk.Question]():                   "ChatQuestion",
	reflect.TypeFor[agui.Function]():                    "AgentFunction",
	reflect.TypeFor[agui.Interrupt]():                   "AgentInterrupt",
	reflect.TypeFor[agui.Metadata[agui.OwnRun]]():       "AgentMetadataAgentRun",
	reflect.TypeFor[agui.Metadata[agui.Publisher]]():    "AgentMetadataAgentPublisher",
	reflect.TypeFor[agui.Metadata[agui.Question]]():     "AgentMetadataAgentQuestion",
	reflect.TypeFor[agui.Metadata[wire.StepFinished]](): "AgentMetadataAgentStep",
	reflect.TypeFor[agui.Operation]():                   "AgentOperation",
	reflect.TypeFor[agui.Outcome]():                     "AgentOutcome",
	reflect.TypeFor[agui.OwnRun]():                      "AgentRun",
	reflect.TypeFor[agui.Part]():                        "AgentPart",
	reflect.TypeFor[agui.Publisher]():                   "AgentPublisher",
	reflect.TypeFor[agui.Question]():                    "AgentQuestion",
	reflect.TypeFor[agui.Result]():                      "AgentResult",
	reflect.TypeFor[agui.Source]():                      "AgentSource",
	reflect.TypeFor[agui.Extra]():                       "AgentExtra",
	reflect.TypeFor[agui.File]():                        "AgentFile",
	reflect.TypeFor[agui.Metadata[agui.Extra]]():        "AgentMetadataAgentExtra",
	reflect.TypeFor[aisdk.Cited]():                      "ChatCited",
	reflect.TypeFor[aisdk.CitedBy]():                    "ChatCitedBy",
	reflect.TypeFor[agui.ThreadState]():                 "AgentThreadState",
	reflect.TypeFor[agui.ToolCall]():                    "AgentToolCall",
	reflect.TypeFor[wire.StepFinished]():                "AgentStep",
	// The item of a nested run has the name Source.
	reflect.TypeFor[spool.Source](): "CitedSource",
}

// schemas has the types that are made by reflection for the document, and all names of types.
type schemas struct {
	events, applicationEvent, items, subagentItems reflect.Type
	message, parts, summary                        reflect.Type
	agentEvents, agentMessage                      reflect.Type

	names map[reflect.Type]string
}

// types makes the types once, for the first document of the process.
var types = sync.OnceValue(func() *schemas {
	m := &schemas{names: maps.Clone(names)}
	m.makeRecord()
	m.makeMessage()
	m.makeAgent()
	return m
})

// name gives a type its name in the document.
func (m *schemas) name(name string, t reflect.Type) reflect.Type {
	m.names[t] = name
	return t
}

// Names are those of components that their types do not say. The caller must not change the map.
func Names() map[reflect.Type]string { return types().names }

// Document replaces types in the document: types that write their own JSON, and types with another name.
func Document(api *rest.API) {
	schemas := api.Huma().OpenAPI().Components.Schemas
	for _, c := range []struct{ is, wire reflect.Type }{
		{reflect.TypeFor[spool.Content](), reflect.TypeFor[content]()},
		{reflect.TypeFor[wire.Entry](), reflect.TypeFor[Event]()},
		{reflect.TypeFor[wire.Item](), reflect.TypeFor[Item]()},
		{reflect.TypeFor[ApplicationEvent](), types().applicationEvent},
		{reflect.TypeFor[spool.Message](), types().message},
		{reflect.TypeFor[wire.Run](), reflect.TypeFor[wire.RunJSON]()},
		{reflect.TypeFor[wire.InputExtended](), reflect.TypeFor[wire.InputExpiring]()},
		{reflect.TypeFor[agui.Message](), types().agentMessage},
	} {
		schemas.RegisterTypeAlias(c.is, c.wire)
	}
}
