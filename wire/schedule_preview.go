package wire

import "time"

// SchedulePreview says when a rule comes due.
type SchedulePreview struct {
	// InWords is the rule as a short English sentence, or as its pattern if there is no short sentence.
	InWords string      `example:"at 09:00 on Monday to Friday (Europe/Berlin)" json:"inWords"`
	Next    []time.Time `json:"next"` // The next five due times, or fewer if no more follow.
}
