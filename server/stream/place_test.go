package stream

import (
	"testing"
	"testing/synctest"
	"time"
)

// A thousand streams that begin at once do so a few at a time. One that leaves makes room for the next at once,
// and one that is slow after the limit.
func TestPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const streams = 1000
		p, entered, goOn := make(places, maxBeginning), make(chan struct{}, streams), make(chan struct{})
		for range streams {
			go func() {
				leave := p.enter()
				entered <- struct{}{}
				<-goOn
				leave()
			}()
		}
		synctest.Wait()
		if n := len(entered); n != maxBeginning {
			t.Fatalf("%d have begun, want %d", n, maxBeginning)
		}
		for range 3 {
			goOn <- struct{}{}
		}
		synctest.Wait()
		if n := len(entered); n != maxBeginning+3 {
			t.Errorf("after 3 have left, %d have begun", n)
		}
		<-time.After(placeLimit + time.Millisecond)
		synctest.Wait()
		if n := len(entered); n != 2*maxBeginning+3 {
			t.Errorf("after the limit, %d have begun", n)
		}
		close(goOn)
		synctest.Wait()
		if n := len(entered); n != streams || len(p) != 0 {
			t.Errorf("%d have begun, and %d have a place", n, len(p))
		}
	})
}
