package config

// Shares are the fields of the section limits that say how workers are shared. A zero field is
// not in the file.
type Shares struct {
	// Concurrency is how many segments run at once.
	Concurrency int
	// RunningPerTenant is how many of them one tenant has.
	RunningPerTenant int
	// MaxTenantDepth bounds the ready jobs of one tenant.
	MaxTenantDepth int
}

// sharesFields are the names of the fields of [Shares].
var sharesFields = []string{"concurrency", "running_per_tenant", "max_queue_depth_per_tenant"}

func shares(f map[string]value) Shares {
	return Shares{
		Concurrency:      f["concurrency"].integer(),
		RunningPerTenant: f["running_per_tenant"].integer(),
		MaxTenantDepth:   f["max_queue_depth_per_tenant"].integer(),
	}
}
