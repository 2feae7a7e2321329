package quota

import "testing"

// An engine that waits for a slot takes no start from the engine that has all slots.
func TestServeAllOrNothing(t *testing.T) {
	t.Parallel()
	limit := Limit{Concurrent: 2, Requests: 2}
	var s state
	s = s.clone()
	s.Holders["b"] = holder{Until: 100_000, Slots: 2}
	first := s.serve(1000, limit, request{me: "a", lease: 30_000, calls: []want{{since: 1, grant: true, slot: true}}})
	if len(first.grants) != 0 || first.slots != 0 || first.why != Concurrent {
		t.Errorf("the engine without slots got %+v", first)
	}
	second := s.serve(1000, limit, request{
		me: "b", lease: 30_000, slots: 2, calls: []want{{since: 2, grant: true}, {since: 3, grant: true}},
	})
	if len(second.grants) != 2 || second.why != "" {
		t.Errorf("the engine with slots got %+v", second)
	}
}
