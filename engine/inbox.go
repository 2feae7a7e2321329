package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Inbox lists the questions of a tenant that wait for an answer, over all of its threads: those that were
// asked first come first, or those that expire first. With the state [wire.ParkExpired] it lists those that
// nobody answered in time, the last one first. It leaves out large arguments: see
// [wire.Question.ArgumentsBytes]. A zero limit stands for 50. A question may be answered or expire while
// somebody reads the list, so an answer may still be refused. An actor that may see only its own threads
// gets no others' questions.
func (w *Watcher) Inbox(ctx context.Context, tenant spool.Tenant, q wire.ParkQuery) (wire.QuestionPage, error) {
	q.Tenant = tenant
	return w.reader.Inbox(ctx, q)
}

// Question returns the question of one call that waits for an answer, with all of its arguments. It returns a
// [spool.NotFound] error if the thread does not exist or the call does not wait.
func (w *Watcher) Question(ctx context.Context, key spool.ThreadKey, call spool.ToolCallID) (wire.Question, error) {
	return w.reader.Question(ctx, key, call)
}
