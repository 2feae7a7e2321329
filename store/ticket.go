package store

import (
	"encoding/json"

	"github.com/spoolhq/spool/wire"
)

// ticketNotice is the JSON of a ticket in a wake-up.
type ticketNotice struct {
	wire.Job

	Subject string `json:"subject,omitempty"` // a queue delivery does not have it
}

// TicketNotice returns the notice of a [WakeJobs] that tells of the ticket of a run. It is nil for a ticket that is too
// large for one.
func TicketNotice(ticket wire.Job) []byte {
	notice, err := json.Marshal(ticketNotice{ticket, ticket.Subject})
	if err != nil || len(notice) > MaxNoticeBytes {
		return nil
	}
	return notice
}

// NoticedTicket returns the ticket that a [WakeJobs] tells of, and false if it tells of none.
func NoticedTicket(notice []byte) (ticket wire.Job, told bool) {
	var n ticketNotice
	if len(notice) == 0 || json.Unmarshal(notice, &n) != nil || n.Event() {
		return wire.Job{}, false
	}
	n.Job.Subject = n.Subject
	return n.Job, true
}
