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

// Other names in the document, where that of the type says too little beside all the others.
type (
	run         spool.WireRun
	runOutcome  engine.Outcome
	inputExpiry spool.InputExpiring
	usageCounts spool.Usage
	usageCost   spool.Cost
	parkAnswer  spool.Answer
)

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
		{reflect.TypeFor[spool.Message](), reflect.TypeFor[Message]()},
		{reflect.TypeFor[spool.Run](), reflect.TypeFor[run]()},
		{reflect.TypeFor[spool.Answer](), reflect.TypeFor[parkAnswer]()},
		{reflect.TypeFor[spool.Cost](), reflect.TypeFor[usageCost]()},
		{reflect.TypeFor[spool.InputExpiring](), reflect.TypeFor[inputExpiry]()},
		{reflect.TypeFor[spool.InputExtended](), reflect.TypeFor[inputExpiry]()},
		{reflect.TypeFor[spool.Usage](), reflect.TypeFor[usageCounts]()},
		{reflect.TypeFor[engine.Outcome](), reflect.TypeFor[runOutcome]()},
		{reflect.TypeFor[agui.Result](), reflect.TypeFor[agentResult]()},
		{reflect.TypeFor[agui.Outcome](), reflect.TypeFor[agentOutcome]()},
		{reflect.TypeFor[agui.Interrupt](), reflect.TypeFor[agentInterrupt]()},
		{reflect.TypeFor[agui.Operation](), reflect.TypeFor[agentOperation]()},
		{reflect.TypeFor[agui.ThreadState](), reflect.TypeFor[agentThreadState]()},
		{reflect.TypeFor[agui.ToolCall](), reflect.TypeFor[agentToolCall]()},
		{reflect.TypeFor[agui.Function](), reflect.TypeFor[agentFunction]()},
		{reflect.TypeFor[agui.Part](), reflect.TypeFor[agentPart]()},
		{reflect.TypeFor[agui.Source](), reflect.TypeFor[agentSource]()},
	} {
		schemas.RegisterTypeAlias(c.is, c.wire)
	}
}
