// Package wire has the types of bodies that spool and engine write themselves, as clients see them:
// frames, entries, items, messages and runs, each with the words of the document. It knows nothing of
// requests.
package wire

import (
	"reflect"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/agui"
)

// Frame is one message of a live stream.
type Frame struct {
	_ struct{} `doc:"One message of the stream, by its kind. Ignore a kind that you do not know."`

	Thread   *threadFrame
	Stream   *streamFrame
	Snapshot *snapshotFrame
}

type (
	threadFrame struct {
		Kind  spool.FrameKind `const:"thread"                             json:"kind"`
		Event spool.Entry     `doc:"An entry of the record, or a notice." json:"event"`
	}

	streamFrame struct {
		Kind     spool.FrameKind `const:"stream"           json:"kind"`
		StreamID spool.StreamID  `doc:"The stream."        json:"streamId"`
		Item     spool.Item      `doc:"What the run says." json:"item"`
	}

	snapshotFrame struct {
		Kind     spool.FrameKind `const:"snapshot"                json:"kind"`
		Snapshot spool.Snapshot  `doc:"All that you have missed." json:"snapshot"`
	}
)

// names are those of the types of the document that have none of their own, or one that says too little
// beside all the others.
var names = map[reflect.Type]string{
	reflect.TypeFor[engine.Outcome]():                    "RunOutcome",
	reflect.TypeFor[spool.Answer]():                      "ParkAnswer",
	reflect.TypeFor[spool.Cost]():                        "UsageCost",
	reflect.TypeFor[spool.InputExpiring]():               "InputExpiry",
	reflect.TypeFor[spool.Usage]():                       "UsageCounts",
	reflect.TypeFor[spool.WireRun]():                     "Run",
	reflect.TypeFor[agui.Function]():                     "AgentFunction",
	reflect.TypeFor[agui.Interrupt]():                    "AgentInterrupt",
	reflect.TypeFor[agui.Metadata[agui.OwnRun]]():        "AgentMetadataAgentRun",
	reflect.TypeFor[agui.Metadata[agui.Publisher]]():     "AgentMetadataAgentPublisher",
	reflect.TypeFor[agui.Metadata[agui.Question]]():      "AgentMetadataAgentQuestion",
	reflect.TypeFor[agui.Metadata[spool.StepFinished]](): "AgentMetadataAgentStep",
	reflect.TypeFor[agui.Operation]():                    "AgentOperation",
	reflect.TypeFor[agui.Outcome]():                      "AgentOutcome",
	reflect.TypeFor[agui.OwnRun]():                       "AgentRun",
	reflect.TypeFor[agui.Part]():                         "AgentPart",
	reflect.TypeFor[agui.Publisher]():                    "AgentPublisher",
	reflect.TypeFor[agui.Question]():                     "AgentQuestion",
	reflect.TypeFor[agui.Result]():                       "AgentResult",
	reflect.TypeFor[agui.Source]():                       "AgentSource",
	reflect.TypeFor[agui.ThreadState]():                  "AgentThreadState",
	reflect.TypeFor[agui.ToolCall]():                     "AgentToolCall",
	reflect.TypeFor[spool.StepFinished]():                "AgentStep",
}

// Names are those of components that their types do not say.
func Names() map[reflect.Type]string { return names }

// Document says which types stand for which in the document: types that write their own JSON, and
// types with another name.
func Document(api *rest.API) {
	schemas := api.Huma().OpenAPI().Components.Schemas
	for _, c := range []struct{ is, wire reflect.Type }{
		{reflect.TypeFor[spool.Content](), reflect.TypeFor[content]()},
		{reflect.TypeFor[spool.Entry](), reflect.TypeFor[Event]()},
		{reflect.TypeFor[spool.Item](), reflect.TypeFor[Item]()},
		{reflect.TypeFor[ApplicationEvent](), applicationEvent},
		{reflect.TypeFor[spool.Message](), message},
		{reflect.TypeFor[spool.Run](), reflect.TypeFor[spool.WireRun]()},
		{reflect.TypeFor[spool.InputExtended](), reflect.TypeFor[spool.InputExpiring]()},
		{reflect.TypeFor[agui.Message](), agentMessage},
	} {
		schemas.RegisterTypeAlias(c.is, c.wire)
	}
}
