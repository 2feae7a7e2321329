package engine

import "github.com/spoolhq/spool"

// SpawnTool is the name of the tool with which an agent that has a [Spawn] starts nested runs.
const SpawnTool = spool.SpawnTool

// The requests and results of an engine are aliases. Package spool declares their fields.
type (
	// Agent describes an agent: its model, instructions, tools and bounds.
	Agent = spool.Agent
	// Spawn lets an agent start nested runs.
	Spawn = spool.Spawn
	// Transfer is an agent that a run can hand its thread to.
	Transfer = spool.Transfer
	// Profile is an agent that other agents can spawn.
	Profile = spool.Profile
	// Attachment is an image of a user turn.
	Attachment = spool.Attachment
	// StartRequest asks for a run.
	StartRequest = spool.StartRequest
	// Response answers a park.
	Response = spool.Response
	// PublishOptions say how an event is published.
	PublishOptions = spool.PublishOptions
	// ThreadChange is what [Engine.UpdateThread] changes of a thread.
	ThreadChange = spool.ThreadChange
	// BranchOptions say which messages of a branch are wanted.
	BranchOptions = spool.BranchOptions
	// EventQuery says which events of a thread are wanted.
	EventQuery = spool.EventQuery
	// PruneOptions say which threads [Admin.Prune] removes.
	PruneOptions = spool.PruneOptions
	// Actor is the caller that a call of the engine is made for.
	Actor = spool.Actor
	// RunResult is the answer to a start.
	RunResult = spool.RunResult
	// StopResult is the answer to a stop.
	StopResult = spool.StopResult
	// RespondResult is the answer to a [Response].
	RespondResult = spool.RespondResult
	// RestoreResult is the answer to [Engine.RestoreBranch].
	RestoreResult = spool.RestoreResult
	// ForkRequest asks for a new thread that begins with what another one was.
	ForkRequest = spool.ForkRequest
	// ForkResult is the answer to [Engine.Fork].
	ForkResult = spool.ForkResult
	// BranchMessages is a branch with its messages.
	BranchMessages = spool.BranchMessages
	// DeleteResult is the answer to [Engine.DeleteThread].
	DeleteResult = spool.DeleteResult
	// CompactResult is the answer to [Engine.Compact].
	CompactResult = spool.CompactResult
	// RedriveResult is the answer to [Admin.Redrive].
	RedriveResult = spool.RedriveResult
	// SweepReport is the result of a sweep.
	SweepReport = spool.SweepReport
	// PruneReport is the result of a prune.
	PruneReport = spool.PruneReport
	// EventPage is a page of events.
	EventPage = spool.EventPage
	// Settlement describes the end of a run to the settle hook.
	Settlement = spool.Settlement
	// Outcome is the state and result of a run.
	Outcome = spool.RunOutcome
	// RunDetail is a run with its steps, record, parks and usage.
	RunDetail = spool.RunDetail
	// StepRecord is a step of a run.
	StepRecord = spool.StepRecord
	// CallRecord is a tool call of a step.
	CallRecord = spool.CallRecord
	// ParkDetail is a park as an operator sees it.
	ParkDetail = spool.ParkDetail
	// Question is a park that waits for an answer, as a list shows it.
	Question = spool.Question
	// Overview counts the threads, runs and jobs of a tenant.
	Overview = spool.Overview
)
