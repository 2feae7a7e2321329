package enginetest

import (
	"slices"
	"strings"
	"time"
)

const (
	// shortCase is how long a case may last that needs no bubble. The cases in longCases last longer.
	shortCase = 10 * time.Second
	// unlisted is how long a case lasts at least if it is certainly missing in longCases.
	unlisted = 2 * shortCase
)

// needsBubble reports whether a case cannot run in real time: it lasts too long, or it compares times so
// exactly that it fails on a busy machine. Campaigns, which have many bubbles, all need them.
func needsBubble(name string) bool {
	subject, test, one := strings.Cut(name, "/")
	has := func(tests string) bool { return slices.Contains(strings.Fields(tests), test) }
	return !one || has(longCases[subject]) || has(exactCases[subject])
}

// exactCases has, by their subjects, the cases that compare times exactly.
var exactCases = map[string]string{
	"Context":  "Nested",
	"Event":    "DueAt Redriven",
	"Job":      "HandBack",
	"Nested":   "StopRunning",
	"Overview": "Overview",
	"Stop":     "LostWake Streaming",
}

// longCases has, by their subjects, the cases that last longer than shortCase: they wait for a lease, an
// expiry, a retention or a retry, or they check that nothing happens for a while.
var longCases = map[string]string{
	"Alone":           "CrashLoop Others Paused Saved Stopped",
	"Approve":         "DigestOfBefore EditedUnknown ReportedWhy",
	"ArtifactUse":     "Repeated",
	"ArtifactDefault": "Crashed",
	"ModelImages":     "Crashed Called",
	"Dropped":         "Once",
	"Audit":           "Delete Retention",
	"Await":           "Expired Extended GivenUp LineStopped Reads",
	"Background":      "Attempts Cut Gone GoneMidway Killed",
	"Branch":          "Follow Shown",
	"Budget":          "Children Lost ParkExpired ParkTime Retried StoreFails TimeInModel TimeInTool TimeOfPeople",
	"Catalogue":       "Killed",
	"ClientTool":      "Expired",
	"Distinct":        "AfterApproval Unknown",
	"Event":           "DueAt Only",
	"Expire":          "Defaults Extend Fail FailSettled FailSiblings FailSwept FailUnknown Marked Times Warned",
	"Fallback":        "Killed AllDown After",
	"Fair": "BesideEvents ConcurrencyEach DepthPerTenant LoneTenant PerTenantTogether RoomBesideMany RoomByShare RoomForTheNext " +
		"RoomInTurn RoomNotPerTenant RoomStopped RunningPerTenant",
	"Follow": "AfterEveryFrame BeforeSegment BeyondTheRecord ForeignStream FromNow GoneStream Hello ReadStream " +
		"SlowWalk SlowWalkRecord",
	"Final":    "Retried Time",
	"Hole":     "Resumed SSE",
	"Job":      "DeadRunning DeliveredTooOften MaxDeliveries UnknownAgent",
	"Later":    "Gone Killed Session Twice",
	"Lease":    "CannotRenew DeadWorker Paused PausedInTool Renewed TooManyDeaths WindowAlone WindowStopOnly WindowStopped WindowTaken",
	"Mixed":    "BudgetExpired CursorWalk TimeEnds TimeParks",
	"Most":     "Time",
	"Nested":   "FailedRoot FollowNow Killed ParkExpires ParkSeveral Retried RetriesEnd StopDead StopDeadDeep Unknown",
	"Overview": "Detail Jobs",
	"Park":     "AnswerRacesExpiry Expired Reclaim Several SomeExpire",
	"Prune":    "Dead Expired Moved Old Retention Unsettled",
	"Pending":  "ApprovalFirst KilledInLook KilledInStep Overdue QuestionKilled QuestionUnsure Several Swept TakesLong",
	"Provider": "Kept",
	"Publish":  "LostLease Nested OneOrder StreamOver",
	"Redrive":  "Settle",
	"Resume":   "Crash Expired",
	"Retract": "BareSeq BudgetStopped Elsewhere GoneEntry Killed NestedFails NestedParks NestedStopped NextBegan " +
		"NextRun ParkDropped ParkFailed ParkStopped Reload Retried Shared Size StoppedCall StoppedMute",
	"Retry":      "AskedTooLong MaxAttempts Transient",
	"Revision":   "PinCrash PinGone",
	"SSE":        "AfterEveryFrame Keepalive KeepaliveEvent Reader Since",
	"Schedule":   "Starts Overlap Missed Paused Change Now Once Right Told Bound Refused Deleted File Own Invalid Killed Twice",
	"Settle":     "Claimed HookFails HookRemoved StoppedAndLost StoppedParked StoppedQueued StoppedTwice WorkerDies",
	"Snapshot":   "BeforeItems FollowsOn Questions StreamEnds",
	"Stop":       "DeadWorker RacesFinish",
	"Steer":      "DeadWorker Parked Settle Stop",
	"Storage":    "Refused",
	"Sweep":      "ExpiryLost RunningWithoutJob",
	"Thread":     "DeleteParked List",
	"Take":       "Died OthersWait Uncertain",
	"TimeLimit":  "Default Nested NotRaised People Segments",
	"ToolSource": "Crash Down",
	"Turns":      "AfterEveryFrame FirstIDs Many OfAnEdit OfTheNext Record WithASnapshot WithoutACursor",
	"Unknown":    "AfterApproval Approved Denied DeniedAfter DeniedWith Expired Idempotent SentAgain Siblings Twice",
	"Usage":      "Lost LostInTool LostStopped Priced",
	"Wait":       "BehindFailure BehindPark DeadWorker Settle Stop",
	"Webhook":    "Aged Deleted Expired",
}

// idlePoll is how often the engines of a case in idleCases look for what no wake-up told them.
const idlePoll = 20 * time.Second

// idleCases has, by their subjects, the cases in which minutes or hours pass while nothing happens. Their engines
// poll seldom, as each poll is a request to the store. A case is not here if polls are a part of what it proves:
// that a lease is renewed or given up in time, that something is not taken, handed back or read too often, or
// what happens if the n-th call of the store fails.
var idleCases = map[string]string{
	"Audit":      "Delete Retention",
	"Budget":     "ParkExpired",
	"ClientTool": "Expired",
	"Expire":     "Extend Fail FailSettled FailSiblings Marked Times Warned",
	"Follow":     "GoneStream",
	"Job":        "DeliveredTooOften MaxDeliveries",
	"Mixed":      "BudgetExpired CursorWalk",
	"Nested":     "FailedRoot ParkExpires",
	"Park":       "Expired SomeExpire",
	"Pending":    "Overdue TakesLong",
	"Prune":      "Moved Old Unsettled",
	"Publish":    "OneOrder",
	"Retract":    "NestedParks ParkFailed",
	"Retry":      "AskedTooLong",
	"Schedule":   "Starts Overlap Missed Paused Change Now Once Right Told Bound Refused Deleted File Own",
	"Settle":     "HookFails StoppedParked",
	"Thread":     "DeleteParked",
	"Take":       "Died OthersWait Uncertain",
	"TimeLimit":  "Default",
	"Turns":      "Many WithASnapshot",
	"Unknown":    "Expired",
	"Webhook":    "Aged Deleted Expired",
}

// idles reports whether a case is in idleCases.
func idles(name string) bool {
	subject, test, _ := strings.Cut(name, "/")
	return slices.Contains(strings.Fields(idleCases[subject]), test)
}
