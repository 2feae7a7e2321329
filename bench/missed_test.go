package main

import "testing"

// TestMisses holds the sentences of missed goals to the goals: each goal of RESULTS.md has one sentence, and
// none has lost its goal.
func TestMisses(t *testing.T) {
	t.Parallel()

	used := make([]int, len(misses))
	r := parseResults(readFile(t, "RESULTS.md"))
	for _, w := range r.sections {
		for _, m := range writtenGoal.FindAllStringSubmatch(w.text, -1) {
			n := 0
			for i, miss := range misses {
				if miss.goal.MatchString(m[1]) {
					used[i]++
					n++
				}
			}
			if n != 1 {
				t.Errorf("the goal %q has %d sentences, want one", m[1], n)
			}
			for _, place := range readmeFigure.FindAllStringSubmatch(sentence(m[1], m[2], m[3]), -1) {
				if _, err := r.median(place[1], place[2]); err != nil {
					t.Errorf("the sentence of %q: %v", m[1], err)
				}
			}
		}
	}
	for i, n := range used {
		if n == 0 {
			t.Errorf("no goal of RESULTS.md has the sentence %q", misses[i].text)
		}
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ what, got, want, text string }{
		{
			"Stream items a second", "45,452", "at least 50,000",
			"Spool saves 45,452 stream items a second in PostgreSQL (goal: at least 50,000)",
		},
		{
			"Step over PostgreSQL behind 1,000 turns beside one in a new thread", "1.45 (rounds: 1.31 to 1.50)", "at most 1.30",
			"A step over PostgreSQL in a thread with 1,000 turns takes 1.45 times as long as one in a new thread (goal: at most 1.30 times)",
		},
		{
			"p50 of a pick-up of River at its lowest cooldown beside Spool, two nodes", "2.00 (rounds: 1.90 to 2.10)",
			"at least 5.00", "p50 of a pick-up of River at its lowest cooldown beside Spool, two nodes: 2.00 (goal: at least 5)",
		},
		{"Something new", "2.20 (rounds: 2.00 to 2.50)", "at most 2.00", "Something new: 2.20 (goal: at most 2)"},
	} {
		if got := sentence(c.what, c.got, c.want); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
	}
}
