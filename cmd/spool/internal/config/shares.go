package config

import "time"

// Shares has the fields of the section limits about sharing workers. A zero field is not in the file.
type Shares struct {
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
}

// sharesFields are the names of the fields of [Shares].
var sharesFields = []string{"concurrency", "running_per_tenant", "max_queue_depth_per_tenant", "bytes_per_tenant", "wall_time"}

func shares(f map[string]value) Shares {
	return Shares{
		Concurrency:      f["concurrency"].integer(),
		RunningPerTenant: f["running_per_tenant"].integer(),
		MaxTenantDepth:   f["max_queue_depth_per_tenant"].integer(),
		MaxTenantBytes:   f["bytes_per_tenant"].integer(),
		MaxWallTime:      durationOrNone(f["wall_time"], "for no bound", "90m"),
	}
}

// durationOrNone reads a duration. It returns a negative one for 0, whose meaning none says.
func durationOrNone(v value, none, example string) time.Duration {
	v.shape.is(kindDurationOrNone)
	want := "0 " + none + `, or a duration such as "` + example + `"`
	s, ok := v.scalar(want)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil || d < 0:
		v.problemf("must be %s", want)
		return 0
	case d == 0:
		return -1
	}
	return d
}
