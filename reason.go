package spool

// Why a start, a stop, an answer, a deletion, a restore or a redrive was refused.
const (
	// ReasonActiveRun: the thread has an active run.
	ReasonActiveRun = "active_run"
	// ReasonQueueFull: as many runs wait for the thread as may, or as many jobs for workers;
	// the latter has a time to retry after.
	ReasonQueueFull = "queue_full"
	// ReasonRunIDUsed: the tenant has a run of that id.
	ReasonRunIDUsed = "run_id_used"
	// ReasonNotFound: the thread, the message to edit or the branch to restore does not exist.
	ReasonNotFound = "not_found"
	// ReasonNotEditable: the message to edit is not the user's, or what waits is not a call
	// whose arguments can be edited.
	ReasonNotEditable = "not_editable"
	// ReasonNotRestorable: the branch begins in another one.
	ReasonNotRestorable = "not_restorable"
	// ReasonNotActive: there is no run to stop.
	ReasonNotActive = "not_active"
	// ReasonMovedOn: what died with a job needs no redrive.
	ReasonMovedOn = "moved_on"
	// ReasonNoPark: nothing waits for this answer.
	ReasonNoPark = "no_park"
	// ReasonAnswered: somebody has answered already, or time has run out.
	ReasonAnswered = "already_answered"
	// ReasonSameApprover: who answers is not known to be another than who started the run.
	ReasonSameApprover = "same_approver"
	// ReasonChanged: what waits is not what was shown to who answers, or what was said has
	// changed while it was summarised.
	ReasonChanged = "changed"
	// ReasonCompacting: the thread's messages are being summarised.
	ReasonCompacting = "compacting"
	// ReasonNothingToCompact: the history is too short for a summary.
	ReasonNothingToCompact = "nothing_to_compact"
)
