package live

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool/wire"
)

// TestFollowerWantsEachNoticeOnce has a follower whose client has a state, and the ring's notices. The
// client must get only notices that are newer than its state, and none that repeats the last one.
func TestFollowerWantsEachNoticeOnce(t *testing.T) {
	t.Parallel()

	state := func(n int64, payload string) ringFrame {
		frame := ringFrame{notices: n}
		frame.Notice = true
		frame.Kind = wire.FrameThread
		frame.Event = &wire.Entry{Type: wire.NoticeStateChange, Payload: []byte(payload)}
		return frame
	}
	f := &follower{noticesSeen: 3, state: []byte("running")}
	var told []string
	for _, batch := range [][]ringFrame{
		{state(1, "queued"), state(2, "parked"), state(3, "running")},
		{state(4, "parked"), state(4, "running"), state(5, "completed"), state(6, "completed")},
	} {
		for _, frame := range f.wanted(batch) {
			told = append(told, string(frame.Event.Payload))
		}
	}
	if got := strings.Join(told, " "); got != "parked completed" || f.noticesSeen != 7 {
		t.Errorf("told of %s, up to notice %d", got, f.noticesSeen)
	}
}
