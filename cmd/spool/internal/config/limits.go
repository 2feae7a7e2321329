package config

import "time"

// Limits is the section limits. A zero field is not in the file.
type Limits struct {
	MaxPromptBytes int
	MaxAnswerBytes int
	MaxStepBytes   int
	// The three bounds are those of files without the section artifacts. MaxFileBytes is negative if none are kept.
	MaxFileBytes, MaxThreadFileBytes, MaxThreadFiles int
	MaxWaiting                                       int
	MaxQueueDepth                                    int
	OpenStreams                                      int
	MaxWait                                          time.Duration
	// DisconnectGrace is negative if runs go on without their clients.
	DisconnectGrace time.Duration
	StartsPerMinute int
	EventsPerMinute int
	FailedLogins    int
	RunMaxAttempts  int
	StopPoll        time.Duration
	HITLTTL         time.Duration
	ClientToolTTL   time.Duration
	StreamGrace     time.Duration
	StreamFlush     time.Duration
	Lease           time.Duration
	Retention       time.Duration
	// AuditRetention is negative if the log is kept for ever.
	AuditRetention time.Duration
	RetryBackoff   time.Duration
	RetryAfterMax  time.Duration
	// Concurrency is how many segments tenants share.
	Concurrency int
	// RunningPerTenant is how many of them one tenant may have.
	RunningPerTenant int
	// MaxTenantDepth limits the ready jobs of one tenant.
	MaxTenantDepth int
	// MaxTenantBytes limits what one tenant stores.
	MaxTenantBytes int
	// MaxWallTime is how long workers execute a run. Negative: for ever.
	MaxWallTime time.Duration
	// BodyMemory limits the bytes of the bodies of all active requests.
	BodyMemory int
	// SnapshotMemory limits the bytes of the encoded snapshots that are kept or being sent.
	SnapshotMemory int
}

func limitsOptions(l *Limits) table {
	return table{
		row("max_prompt_bytes", integer(&l.MaxPromptBytes), "Default: 262144."),
		row("max_answer_bytes", integer(&l.MaxAnswerBytes), "Bytes of a model's answer. Default: 4194304."),
		row("max_step_bytes", integer(&l.MaxStepBytes).then(func(v value) {
			if l.MaxStepBytes > 0 && l.MaxStepBytes < l.MaxAnswerBytes {
				v.problemf("is less than max_answer_bytes")
			}
		}), "Bytes of an answer with the results of its calls. Default: 8388608."),
		row("max_file_bytes", most(&l.MaxFileBytes),
			"Bytes of a file of a tool or a model, without artifacts. 0: none are kept. Default: 4194304."),
		row("max_thread_file_bytes", integer(&l.MaxThreadFileBytes),
			"Bytes of all such files of a thread. Default: 33554432."),
		row("max_thread_files", integer(&l.MaxThreadFiles), "How many such files a thread may have. Default: 64."),
		row("max_waiting", integer(&l.MaxWaiting), "How many runs may wait for one thread. Default: 16."),
		row("max_queue_depth", integer(&l.MaxQueueDepth), "How many runs may wait for a worker. Default: 100000."),
		row("open_streams", integer(&l.OpenStreams),
			"How many event streams one subject of a tenant may have open. Default: 10000."),
		row("max_wait", duration(&l.MaxWait), "How long a request may wait for the end of a run (?wait). Default: 1m."),
		row("disconnect_grace", durationOrNone(&l.DisconnectGrace, "to let runs go on", "10s"),
			"How long an AG-UI run goes on without its client. 0: it goes on. Default: 10s."),
		row("starts_per_minute", integer(&l.StartsPerMinute),
			"How many starts one subject of a tenant may make in any minute. Default: 6000."),
		row("events_per_minute", integer(&l.EventsPerMinute),
			"How many durable events one subject of a tenant may publish in any minute. Each 8 KiB of a payload "+
				"counts as one. Default: 600."),
		row("failed_logins", integer(&l.FailedLogins),
			"Requests with wrong credentials from one address in 15 minutes before answers are delayed. Default: "+
				"10."),
		row("run_max_attempts", integer(&l.RunMaxAttempts), "Failures of a step in a row. Default: 3."),
		row("stop_poll", duration(&l.StopPoll), "How often a worker polls for a stop. Default: 500ms."),
		row("hitl_ttl", duration(&l.HITLTTL), "How long a person's answer may take. Default: 168h."),
		row("client_tool_ttl", duration(&l.ClientToolTTL),
			"How long a call waits for the client that runs the tool. Default: 15m."),
		row("stream_grace", duration(&l.StreamGrace), "How long a stream can be read after its end. Default: 10m."),
		row("stream_flush", duration(&l.StreamFlush),
			"How long stream items may wait to be written together. Default: 50ms."),
		row("lease", duration(&l.Lease), "How long a silent worker holds a run. Default: 30s."),
		row("retention", duration(&l.Retention), "How long an inactive thread is kept. Default: for ever."),
		row("audit_retention", durationOrNone(&l.AuditRetention, "for ever", "9600h"),
			"How long the audit log is kept. 0: for ever. Default: 9600h."),
		row("retry_backoff", duration(&l.RetryBackoff),
			"The wait before the second attempt; it doubles up to 2 min. Default: 5s."),
		row("retry_after_max", duration(&l.RetryAfterMax),
			"The longest wait that a provider may ask for. Default: 15m."),
		row("concurrency", integer(&l.Concurrency),
			"How many segments run at once in this process. One more and a quarter are reserved for tenants and "+
				"subjects below their share. Default: 16."),
		row("running_per_tenant", integer(&l.RunningPerTenant),
			"How many of them one tenant may have. Default: no limit."),
		row("max_queue_depth_per_tenant", integer(&l.MaxTenantDepth),
			"How many runs of one tenant may wait for a worker. Default: 50000."),
		row("bytes_per_tenant", integer(&l.MaxTenantBytes), "How many bytes one tenant may store. Default: no limit."),
		row("wall_time", durationOrNone(&l.MaxWallTime, "for no bound", "90m"),
			"How long workers execute a run, without its waits. 0: no limit. Default: 1h."),
		row("body_memory", integer(&l.BodyMemory), "Bytes of the bodies of all active requests. Default: 134217728."),
		row("snapshot_memory", integer(&l.SnapshotMemory),
			"Bytes of the snapshots that are kept or being sent. Default: 134217728."),
	}
}
