package main

import "testing"

// TestBodies compares what the implementations answer. Without it the measurements would
// compare different work.
func TestBodies(t *testing.T) {
	t.Parallel()

	c := newCatalog()
	calls := probes(c)
	for _, tc := range cases(c) {
		calls = append(calls, tc.call)
	}
	for _, e := range entries(c) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()

			for _, call := range calls {
				if err := e.check(call); err != nil {
					t.Errorf("%s: %v", call.name, err)
				}
			}
		})
	}
}
