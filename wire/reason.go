package wire

// The reasons why a start, a stop, an answer, a deletion, a restore or a redrive was refused.
const (
	// ReasonActiveRun: the thread has an active run.
	ReasonActiveRun = "active_run"
	// ReasonQueueFull: the queue of the thread is full, or the queue of the workers. The latter has
	// a time to retry after.
	ReasonQueueFull = "queue_full"
	// ReasonRunIDUsed: the tenant has a run with that id.
	ReasonRunIDUsed = "run_id_used"
	// ReasonKeyReused: another start has been accepted under the idempotency key.
	ReasonKeyReused = "key_reused"
	// ReasonImported: an import has brought the delayed start, which waits for somebody to move it.
	ReasonImported = "imported"
	// ReasonNotFound: the thread, the message to edit or the branch to restore does not exist.
	ReasonNotFound = "not_found"
	// ReasonNotEditable: the message to edit is not the user's, or what waits is not a call
	// whose arguments can be edited.
	ReasonNotEditable = "not_editable"
	// ReasonNotRestorable: the branch begins in another one.
	ReasonNotRestorable = "not_restorable"
	// ReasonNotActive: there is no run to stop.
	ReasonNotActive = "not_active"
	// ReasonMovedOn: the work of the dead job was done, or no longer needs a redrive.
	ReasonMovedOn = "moved_on"
	// ReasonNoPark: nothing waits for this answer.
	ReasonNoPark = "no_park"
	// ReasonAnswered: somebody has answered already, or time has run out.
	ReasonAnswered = "already_answered"
	// ReasonSameApprover: the answering subject may be the one that started the run.
	ReasonSameApprover = "same_approver"
	// ReasonChanged: the question is not the one that was shown to the answering subject, or the
	// messages changed while they were summarised.
	ReasonChanged = "changed"
	// ReasonCompacting: the thread's messages are being summarised.
	ReasonCompacting = "compacting"
	// ReasonThreadUsed: there is a thread with the id that a fork was to get.
	ReasonThreadUsed = "thread_id_used"
	// ReasonNothingToCompact: the history is too short for a summary.
	ReasonNothingToCompact = "nothing_to_compact"
)
