package load

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Report is the result of a load.
type Report struct {
	// Command says how the load was made.
	Command   Command   `json:"command"`
	StartedAt time.Time `json:"startedAt"`
	// Seconds is how long it took, with the warm-up and without the deletion of the threads.
	Seconds float64 `json:"seconds"`
	// Rungs are the rungs that were begun, the lowest rate first.
	Rungs []Rung `json:"rungs"`
	// HeldPerSecond is the highest rate that the server held. Zero: it held none.
	HeldPerSecond float64 `json:"heldPerSecond"`
	// Saturation says why the last rung was the last one. Empty: the server held all rates.
	Saturation string `json:"saturation,omitempty"`
	// Cut says why the ladder ended before its top and before saturation. Empty: it did not.
	Cut string `json:"cut,omitempty"`
	// Lost says that the server did not answer any more at the end of the load. Its threads were not deleted.
	Lost bool `json:"lost,omitempty"`
	// Threads counts the threads that the load made.
	Threads Threads `json:"threads"`
}

// Command says how a load was made.
type Command struct {
	Version  string    `json:"version"`
	Server   string    `json:"server"`
	Session  string    `json:"session"`
	Ladder   []float64 `json:"ladder"`
	Step     float64   `json:"stepSeconds"`
	Watchers int       `json:"watchersPerRun"`
	Stops    float64   `json:"stops"`
	Resumes  float64   `json:"resumes"`
	Agent    string    `json:"agent,omitempty"`
	Prompt   string    `json:"prompt"`
}

// Threads counts the threads that a load made.
type Threads struct {
	Made    int `json:"made"`
	Deleted int `json:"deleted"`
	// Left are those that are still on the server.
	Left int `json:"left"`
}

// Rung is the result of one rate.
type Rung struct {
	OfferedPerSecond float64 `json:"offeredPerSecond"`
	// AchievedPerSecond is how many runs ended per second, without those that failed: see the documentation.
	AchievedPerSecond float64 `json:"achievedPerSecond"`
	// Seconds is how long runs arrived.
	Seconds float64 `json:"seconds"`
	// Arrivals are the runs that were due, Accepted those that the server accepted, Ended those that ended as
	// they should, and Unfinished those that had not ended when the drain was over.
	Arrivals   int `json:"arrivals"`
	Accepted   int `json:"accepted"`
	Ended      int `json:"ended"`
	Unfinished int `json:"unfinished"`
	// Stopped are the runs among Ended that were stopped on purpose. StoppedLate ended before their stop came.
	Stopped     int `json:"stopped"`
	StoppedLate int `json:"stoppedLate"`

	// The latencies in milliseconds: from the time at which the run was due to the answer to its start, to its
	// first streamed token, and to its end; and from a stop to the end of the run. WholeRun is without stopped
	// runs.
	Start      Latency `json:"start"`
	FirstToken Latency `json:"firstToken"`
	WholeRun   Latency `json:"wholeRun"`
	StopToEnd  Latency `json:"stopToEnd"`

	Watchers Watchers `json:"watchers"`
	// Errors counts failures by what failed and the code.
	Errors map[string]int `json:"errors"`
	// Saturation says why the server did not hold the rate. Empty: it did.
	Saturation string `json:"saturation,omitempty"`
	// Cut says that the rung ended early, so that it does not count as held.
	Cut bool `json:"cut,omitempty"`
}

// Watchers says what the clients saw that followed the runs of a rung.
type Watchers struct {
	// Most is how many were connected at the same time.
	Most            int     `json:"most"`
	Frames          int64   `json:"frames"`
	FramesPerSecond float64 `json:"framesPerSecond"`
	// Resumed counts connections that were dropped on purpose, and Retries those that ended by themselves.
	Resumed int `json:"resumed"`
	Retries int `json:"retries"`
	// Snapshots counts the snapshots that came in place of frames.
	Snapshots int `json:"snapshots"`
	// Gaps and Repeats count frames that were missing or came again. Both must be 0.
	Gaps    int `json:"gaps"`
	Repeats int `json:"repeats"`
	// TextsChecked counts the streamed texts that were compared with the saved ones, and TextsWrong those that
	// differed, which must be 0.
	TextsChecked int `json:"textsChecked"`
	TextsWrong   int `json:"textsWrong"`
}

// Faults returns how many frames were missing or repeated, and how many texts were wrong, in all rungs.
func (r *Report) Faults() int {
	n := 0
	for i := range r.Rungs {
		w := r.Rungs[i].Watchers
		n += w.Gaps + w.Repeats + w.TextsWrong
	}
	return n
}

// Interrupted reports whether the end of the context ended the load.
func (r *Report) Interrupted() bool { return r.Cut == cutByUser }

// WriteJSON writes the report into a file.
func (r *Report) WriteJSON(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // a report is for others to read
}

// conclude fills in what follows from the rungs.
func (r *Report) conclude() {
	for i := range r.Rungs {
		switch rung := &r.Rungs[i]; {
		case rung.Saturation != "":
			r.Saturation = rung.Saturation
		case !rung.Cut:
			r.HeldPerSecond = rung.OfferedPerSecond
		}
	}
}

// hint says what an operator can change about the saturation, or "".
func (r *Report) hint() string {
	if r.Saturation == "" {
		return ""
	}
	last := r.Rungs[len(r.Rungs)-1]
	most := ""
	if len(last.Errors) > 0 {
		most = mostFrequent(last.Errors)
	}
	switch {
	case strings.HasPrefix(most, "start: 429"):
		return "429 is a limit of the server: limits.starts_per_minute for starts, limits.open_streams for watchers."
	case most == notSent:
		return "This command had as many runs in progress as --in-flight allows."
	case last.Accepted == last.Arrivals && last.FirstToken.P50 > 2*last.Start.P99:
		return "Starts were accepted, and runs waited for a worker: limits.concurrency, more workers, or a faster model."
	}
	return ""
}

func sortedNames[V any](m map[string]V) []string {
	return slices.SortedFunc(maps.Keys(m), cmp.Compare[string])
}
