package admin

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// The states by which jobs are listed, besides those of a queue.
const (
	jobsDead  = "dead"
	jobsStuck = "stuck"
)

// JobsInput asks for a tenant's jobs.
type JobsInput struct {
	oneTenant

	State     string        `doc:"Which jobs. Left out: all that are not dead." enum:"dead,stuck,ready,delayed,inflight"                                                                   query:"state"`
	OlderThan time.Duration `default:"15m"                                      doc:"Of stuck jobs: how long they must have been due. A call that is meant to take as long is among them." example:"15m"  minimum:"0s" query:"olderThan"`
	Limit     int           `default:"50"                                       doc:"How many at the most."                                                                                maximum:"1000" minimum:"1"  query:"limit"`
	Before    string        `doc:"Of dead jobs: the next of the page before."   query:"before"`
}

// AdminJob is a job as operators see it.
type AdminJob struct { //nolint:revive // the document has the name
	JobID       int64          `doc:"The job's number, which rises with time."                           json:"jobId"`
	State       string         `doc:"Where the job is."                                                  enum:"dead,ready,delayed,inflight"                        json:"state"`
	ThreadID    spool.ThreadID `doc:"Its thread."                                                        json:"threadId"`
	RunID       spool.RunID    `doc:"Its run."                                                           json:"runId"`
	Agent       string         `doc:"The agent that is to run."                                          json:"agent"`
	Model       string         `doc:"The model of the run."                                              json:"model,omitempty"`
	Kind        spool.JobKind  `doc:"What the job is for."                                               enum:"start,retry,resume,hand_back,reclaim,expiry,settle" json:"kind"`
	Segment     int            `doc:"The segment that the job is for. Left out: any."                    json:"segment,omitempty"`
	Attempts    int            `doc:"The deliveries that counted."                                       json:"attempts"`
	DueAt       time.Time      `doc:"When it may be carried out."                                        json:"dueAt,omitzero"`
	FirstDueAt  time.Time      `doc:"When that was for the first time, however often the job came back." json:"firstDueAt,omitzero"`
	LockedUntil time.Time      `doc:"Of a job in flight: how long its worker has it, unless it reports." json:"lockedUntil,omitzero"`
	Cause       string         `doc:"Of a dead job: why it was given up."                                json:"cause,omitempty"`
	DiedAt      time.Time      `doc:"Of a dead job: when it was given up."                               json:"diedAt,omitzero"`
}

// JobList is the answer to a list of jobs.
type JobList struct {
	Jobs []AdminJob `doc:"The jobs: the last that died first, or the one that has been due longest first." json:"jobs"`
	// Next is the before parameter of the next page. Empty: there is none.
	Next string `doc:"Of dead jobs: what before has to be for the next page. Left out: there is none." json:"next,omitempty"`
}

// Jobs answers GET /api/admin/jobs.
func (c Controller) Jobs(ctx context.Context, in JobsInput) (JobList, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return JobList{}, err
	}
	out := JobList{Jobs: []AdminJob{}}
	if in.State == jobsDead {
		dead, next, err := c.deadJobs(ctx, tenant, in.Before, in.Limit)
		for _, d := range dead {
			out.Jobs = append(out.Jobs, deadJob(d))
		}
		out.Next = next
		return out, err
	}
	var list []spool.QueuedJob
	if in.State == jobsStuck {
		list, err = c.Engine.StuckJobs(ctx, tenant, in.OlderThan, in.Limit)
	} else {
		list, err = c.Engine.Jobs(ctx, tenant, spool.JobQuery{State: spool.JobState(in.State), Limit: in.Limit})
	}
	for _, j := range list {
		out.Jobs = append(out.Jobs, queuedJob(j))
	}
	return out, aboutTenant(ctx, err, tenant)
}

// deadJobs returns a page of a tenant's dead jobs, and what continues it.
func (c Controller) deadJobs(ctx context.Context, tenant spool.Tenant, before string, limit int) ([]spool.DeadJob, string, error) {
	q := spool.DeadQuery{Limit: limit}
	if before != "" {
		at, id, err := call.ParseTimeMark(before)
		if err != nil {
			return nil, "", err
		}
		if q.BeforeID, err = strconv.ParseInt(id, 10, 64); err != nil {
			return nil, "", call.ErrMark
		}
		q.Before = at
	}
	dead, err := c.Engine.DeadJobs(ctx, tenant, q)
	if err != nil || len(dead) < limit {
		return dead, "", aboutTenant(ctx, err, tenant)
	}
	last := dead[len(dead)-1]
	return dead, call.TimeMark(last.DiedAt, strconv.FormatInt(last.JobID, 10)), nil
}

func deadJob(d spool.DeadJob) AdminJob {
	return AdminJob{
		JobID: d.JobID, State: jobsDead, ThreadID: d.ThreadID, RunID: d.RunID, Agent: d.Agent, Model: d.Model, Kind: d.Kind,
		Segment: d.Segment, Attempts: d.Attempts, Cause: d.Cause, DiedAt: d.DiedAt,
	}
}

func queuedJob(j spool.QueuedJob) AdminJob {
	job := AdminJob{
		JobID: j.JobID, State: string(j.State), ThreadID: j.ThreadID, RunID: j.RunID, Agent: j.Agent, Model: j.Model, Kind: j.Kind,
		Segment: j.Segment, Attempts: j.Attempts, DueAt: j.DueAt, FirstDueAt: j.FirstDue,
	}
	if j.State == spool.JobInFlight {
		job.DueAt, job.LockedUntil = time.Time{}, j.DueAt
	}
	return job
}

// checkJobs returns an error unless a request says which dead jobs it means.
func checkJobs(tenant spool.Tenant, jobID int64, all bool) error {
	if (jobID != 0) == all {
		return spool.Errorf(spool.Invalid, "either jobId or all is required")
	}
	if jobID < 0 {
		return spool.Errorf(spool.Invalid, "jobId must be the number of a job")
	}
	return call.CheckOptionalID("tenant", string(tenant))
}

// RedriveRequest is the body of a redrive.
type RedriveRequest struct {
	Tenant spool.Tenant `doc:"The tenant. Only an operator may name another than its own, which is the default." json:"tenant,omitempty"`
	JobID  int64        `doc:"The one job that is meant."                                                        json:"jobId,omitempty"`
	All    bool         `doc:"Whether all dead jobs are meant, in place of one."                                 json:"all,omitempty"`
	Limit  int          `doc:"How many of all jobs are tried, up to 1000. Defaults to 100."                      json:"limit,omitempty"`
	Before string       `doc:"The next of the answer before, to go on with all jobs."                            json:"before,omitempty"`
}

// Validate implements [rest.Validator].
func (in *RedriveRequest) Validate(context.Context) error {
	if in.Limit == 0 {
		in.Limit = 100
	}
	if in.Limit < 0 || in.Limit > 1000 {
		return spool.Errorf(spool.Invalid, "limit must be an integer from 1 to 1000")
	}
	return checkJobs(in.Tenant, in.JobID, in.All)
}

// RedriveAnswer says what became of dead jobs.
type RedriveAnswer struct {
	Redriven int                    `doc:"How many jobs were accepted."                                             json:"redriven"`
	Refused  int                    `doc:"How many were not, and are still dead."                                   json:"refused"`
	Results  []engine.RedriveResult `doc:"What became of each."                                                     json:"results"`
	Next     string                 `doc:"What before has to be to go on with the others. Left out: there is none." json:"next,omitempty"`
}

func (a *RedriveAnswer) add(r engine.RedriveResult) {
	a.Results = append(a.Results, r)
	if r.Accepted {
		a.Redriven++
	} else {
		a.Refused++
	}
}

// Redrive answers POST /api/admin/jobs/redrive. One job that is refused is a 409, and one
// that is not there a 404, with the same body; of all jobs each has its own result.
func (c Controller) Redrive(ctx context.Context, in RedriveRequest) (RedriveAnswer, error) {
	out := RedriveAnswer{Results: []engine.RedriveResult{}}
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return out, err
	}
	jobs := []spool.DeadJob{{JobID: in.JobID}}
	if in.All {
		if jobs, out.Next, err = c.deadJobs(ctx, tenant, in.Before, in.Limit); err != nil {
			return out, err
		}
	}
	for _, d := range jobs {
		result, err := c.Engine.Redrive(call.Acting(ctx), tenant, d.JobID)
		if err != nil {
			return out, aboutTenant(ctx, err, tenant)
		}
		out.add(result)
	}
	if !in.All && !out.Results[0].Accepted {
		status := http.StatusConflict
		if out.Results[0].Reason == engine.ReasonNotFound {
			status = http.StatusNotFound
		}
		rest.ResponseOf(ctx).SetStatus(status)
	}
	return out, nil
}

// PurgeRequest is the body of a purge.
type PurgeRequest struct {
	Tenant    spool.Tenant `doc:"The tenant. Only an operator may name another than its own, which is the default." json:"tenant,omitempty"`
	JobID     int64        `doc:"The one job that is meant."                                                        json:"jobId,omitempty"`
	All       bool         `doc:"Whether all dead jobs are meant, in place of one."                                 json:"all,omitempty"`
	OlderThan string       `doc:"Of all jobs: only those that have been dead for as long. Defaults to all."         example:"720h"          json:"olderThan,omitempty"`

	olderThan time.Duration
}

// Validate implements [rest.Validator].
func (in *PurgeRequest) Validate(context.Context) (err error) {
	if in.OlderThan != "" {
		if in.olderThan, err = parseAge("olderThan", in.OlderThan); err != nil {
			return err
		}
	}
	return checkJobs(in.Tenant, in.JobID, in.All)
}

// parseAge reads how old something has to be.
func parseAge(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, spool.Errorf(spool.Invalid, `%s must be a duration such as "720h"`, field)
	}
	return d, nil
}

// PurgeAnswer says how many dead jobs were forgotten.
type PurgeAnswer struct {
	Purged int `doc:"How many dead jobs are gone." json:"purged"`
}

// Purge answers POST /api/admin/jobs/purge. One job that is not dead, or not there, is a
// 404.
func (c Controller) Purge(ctx context.Context, in PurgeRequest) (PurgeAnswer, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return PurgeAnswer{}, err
	}
	q := spool.DeadQuery{JobID: in.JobID}
	if in.olderThan > 0 {
		q.DiedBefore = time.Now().Add(-in.olderThan)
	}
	n, err := c.Engine.PurgeJobs(call.Acting(ctx), tenant, q)
	if err == nil && n == 0 && in.JobID != 0 {
		err = spool.Errorf(spool.NotFound, "Dead job not found")
	}
	if err != nil {
		return PurgeAnswer{}, aboutTenant(ctx, err, tenant)
	}
	return PurgeAnswer{Purged: n}, nil
}
