package agui_test

import (
	"context"
	"iter"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
)

// A client that comes in the middle of a step gets the address of its file, as a client that sees the file come.
func TestAddressOfFileInMidStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, drawing{})
		s.run("r1", "hello")
		before := s.watch(agui.Options{}, nil)
		stop := s.work()
		settle(time.Second)
		after := s.watch(agui.Options{}, nil)
		live := regexp.MustCompile(`"name":"FILE","value":\{"messageId":"r1:s1","image":"artifact:(art_\w+)","mimeType":"image/png","url":"/read/(art_\w+)\?of=t"\}`)
		saved := regexp.MustCompile(`"id":"r1:s1","role":"assistant",.*"files":\[\{"image":"artifact:(art_\w+)","mimeType":"image/png","url":"/read/(art_\w+)\?of=t"\}\]`)
		for want, got := range map[*regexp.Regexp][]byte{live: before.seen(), saved: after.seen()} {
			if m := want.FindSubmatch(got); m == nil || string(m[1]) != string(m[2]) {
				t.Errorf("want %s in\n%s", want, got)
			}
		}
		stop()
	})
}

// drawing is a model that has made an image and does not end its answer.
type drawing struct{}

// Stream holds the answer open.
func (drawing) Stream(ctx context.Context, _ spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		if !yield(spool.FileMade{MediaType: "image/png", Data: png}, nil) || !yield(spool.TextDelta{Text: "Look."}, nil) {
			return
		}
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}
