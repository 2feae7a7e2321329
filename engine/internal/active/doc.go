// Package active has the state of a run that a worker executes. It is the door between the three rooms in which the
// work is done. Each room imports those below it, and none above:
//
//	segment   claims a run, keeps its lease, notices stops, hands it back, settles it
//	   |
//	 loop     executes steps: asks the model, hands over, ends the run, executes nested runs
//	   |
//	 calls    plans, makes, saves and parks the tool calls of a step
//	   |
//	active    the run as last saved, and the segment that its tree of runs shares
//
// A [Run] is the only way to change the stored run: [Run.Update] and [Run.Commit] run a transition of package thread
// under the lease of the [Segment].
package active
