package config

// ProviderLimits is the field limits of a model: what the model's provider allows to all workers together. The
// zero value means that the file has none.
type ProviderLimits struct {
	Source

	// Group names what the provider counts together. Empty: the requests with one key.
	Group string
	// A zero number has no limit.
	Concurrent, RPM, TPM int
}

// None reports whether the file has no limits for the model.
func (l ProviderLimits) None() bool { return l.Concurrent == 0 && l.RPM == 0 && l.TPM == 0 }

func providerLimits(v value) ProviderLimits {
	f := v.fields("concurrent", "rpm", "tpm", "group")
	l := ProviderLimits{
		Source: v.source(), Group: f["group"].optionalWord(),
		Concurrent: f["concurrent"].integer(), RPM: f["rpm"].integer(), TPM: f["tpm"].integer(),
	}
	if v.present() && !f["concurrent"].present() && !f["rpm"].present() && !f["tpm"].present() {
		v.problemf("needs one of concurrent, rpm and tpm")
	}
	return l
}
