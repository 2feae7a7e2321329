package enginetest

import (
	"cmp"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Test checks that an engine over the backend does what package engine promises. Each case runs in a
// bubble of testing/synctest, over a new backend. Its history is checked by [spooltest.Check].
func Test(t *testing.T, o Options) {
	t.Helper()
	o.checkNames(t)
	all := subjects()
	if o.PortOnly {
		all = portSubjects()
	}
	for _, subject := range all {
		if !o.runs(subject.name) {
			continue
		}
		t.Run(subject.name, func(t *testing.T) {
			t.Parallel()
			for name, test := range subject.tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					o.bubble(t, subject.name+"/"+name, func(t *testing.T) {
						t.Helper()
						s := newEngineTest(t, o)
						s.idles = idles(subject.name + "/" + name)
						test(s)
						s.check()
					})
				})
			}
		})
	}
	for name, test := range campaigns() {
		if !o.runs(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.skips(t, name)
			if o.NoCampaigns != "" {
				t.Skip(o.NoCampaigns)
			}
			test(t, o)
		})
	}
}

// subject has the cases of one operation.
type subject struct {
	name  string
	tests map[string]func(s *engineTest)
}

// subjects returns the cases that have a bubble each.
func subjects() []subject { return slices.Concat(portSubjects(), ruleSubjects()) }

// portSubjects returns the subjects whose cases need a store: their transactions meet those of others, or what one
// process writes is what another one reads.
func portSubjects() []subject {
	return []subject{
		{"Start", startTests},
		{"Later", cases(laterTests)},
		{"Take", cases(takeTests)},
		{"Wait", cases(waitTests)},
		{"Steer", cases(steerTests)},
		{"Step", stepTests},
		{"Stop", stopTests},
		{"Usage", cases(usageTests)},
		{"Park", parkTests},
		{"Inbox", inboxTests},
		{"Distinct", cases(distinctTests)},
		{"Revision", revisionTests},
		{"Edit", editTests},
		{"Branch", cases(branchTests)},
		{"Fork", cases(forkTests)},
		{"ArtifactUse", cases(artifactUseTests)},
		{"ArtifactDefault", cases(artifactDefaultTests)},
		{"ModelImages", cases(modelImageTests)},
		{"Dropped", cases(droppedTests)},
		{"Job", jobTests},
		{"Event", cases(eventTests)},
		{"Fair", cases(fairTests)},
		{"Schedule", cases(scheduleTests)},
		{"Storage", cases(storageTests)},
		{"Lease", leaseTests},
		{"Alone", cases(aloneTests)},
		{"Sweep", cases(sweepTests)},
		{"Own", cases(ownTests)},
		{"Audit", cases(auditTests)},
		{"Redrive", cases(redriveTests)},
		{"Prune", cases(pruneTests)},
		{"Overview", overviewTests},
		{"Await", cases(awaitTests)},
		{"Settle", cases(settleTests)},
		{"Thread", threadTests},
		{"Snapshot", cases(snapshotTests)},
		{"Follow", cases(followTests)},
		{"Turns", cases(turnTests)},
		{"Publish", cases(publishTests)},
		{"HostState", hostStateTests},
		{"Key", keyTests},
		{"Catalogue", cases(catalogueTests)},
		{"Webhook", cases(webhookTests)},
	}
}

// ruleSubjects returns the subjects whose cases are rules: the engine decides the same over every store that keeps the
// contract of its port.
func ruleSubjects() []subject {
	return []subject{
		{"Retry", retryTests},
		{"Budget", cases(budgetTests)},
		{"Approve", cases(approveTests)},
		{"Expire", cases(expireTests)},
		{"Unknown", unknownTests},
		{"Resume", cases(resumeTests)},
		{"ToolSource", cases(sourceTests)},
		{"Nested", cases(nestedTests)},
		{"Mixed", cases(mixedTests)},
		{"Context", cases(contextTests)},
		{"Force", cases(forceTests)},
		{"TimeLimit", cases(timeLimitTests)},
		{"Access", cases(accessTests)},
		{"Describe", cases(describeTests)},
		{"Retract", cases(retractTests)},
		{"Hole", cases(holeTests)},
		{"SSE", sseTests},
		{"ProviderOptions", providerOptionsTests},
		{"ClientTool", clientToolTests},
		{"ClientContext", clientContextTests},
		{"Arguments", cases(argumentTests)},
		{"Empty", cases(emptyTests)},
		{"Final", cases(finalTests)},
		{"Repeat", cases(repeatTests)},
		{"Provider", cases(providerTests)},
		{"Background", cases(backgroundTests)},
		{"Fallback", cases(fallbackTests)},
		{"Transfer", cases(transferTests)},
		{"Output", cases(outputTests)},
		{"Bound", cases(boundTests)},
		{"Cited", cases(citedTests)},
		{"Most", cases(mostTests)},
		{"Pending", cases(pendingTests)},
	}
}

// campaigns returns the cases that have many bubbles each.
func campaigns() map[string]func(t *testing.T, o Options) {
	all := map[string]func(t *testing.T, o Options){
		"WaitCrash": testWaitCrash, "Random": testEngineRandom, "Pauses": testEnginePauses,
	}
	for name, script := range crashScripts {
		all[name] = func(t *testing.T, o Options) {
			t.Helper()
			testEngineCrash(t, o, script, cmp.Or(fewCalls[name], leastCalls))
		}
	}
	return all
}

// cases converts the cases of one operation, which have a fixture of their own.
func cases[T ~struct{ *engineTest }](tests map[string]func(T)) map[string]func(*engineTest) {
	all := make(map[string]func(*engineTest), len(tests))
	for name, test := range tests {
		all[name] = func(s *engineTest) { test(T(struct{ *engineTest }{s})) }
	}
	return all
}

// runs reports whether a subject or a campaign is among those that run.
func (o Options) runs(name string) bool { return len(o.Only) == 0 || slices.Contains(o.Only, name) }

// checkNames ends the test if Only or Skip has a name that does not exist.
func (o Options) checkNames(t *testing.T) {
	t.Helper()
	names := caseNames()
	for _, name := range o.Only {
		isSubject := slices.ContainsFunc(subjects(), func(s subject) bool { return s.name == name })
		if _, isCampaign := campaigns()[name]; !isSubject && !isCampaign {
			t.Fatalf("Options.Only has %q, and there is no such subject or campaign", name)
		}
	}
	for name := range o.Skip {
		if !names[name] {
			t.Fatalf("Options.Skip has %q, and there is no such case", name)
		}
	}
}

// caseNames returns the names that [Options.Skip] can have.
func caseNames() map[string]bool {
	names := make(map[string]bool)
	for _, subject := range subjects() {
		for name := range subject.tests {
			names[subject.name+"/"+name] = true
		}
	}
	for name := range campaigns() {
		names[name] = true
	}
	return names
}

// skips ends the case early if the options say so.
func (o Options) skips(t *testing.T, name string) {
	t.Helper()
	if why, ok := o.Skip[name]; ok {
		t.Skip(why)
	}
	if o.RealTime && needsBubble(name) {
		t.Skip("the case needs a bubble")
	}
}

// bubble runs a case in its own bubble, or in real time.
func (o Options) bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	o.skips(t, name)
	if o.RealTime {
		test(t)
		return
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		test(t)
		if took := time.Since(begin); took > unlisted && !needsBubble(name) {
			t.Errorf("the case lasts %s, and longCases lacks it", took)
		}
	})
}
