package filepart_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/filepart"
)

func TestBehindAnswers(t *testing.T) {
	t.Parallel()

	text := func(said string) spool.Part { return spool.Part{Type: spool.PartText, Text: said} }
	image, file := spool.Part{Type: spool.PartImage, Image: "data:,a"}, spool.Part{Type: spool.PartFile, File: "data:,b"}
	result := spool.Part{Type: spool.PartToolResult, ToolCallID: "c"}
	message := func(role spool.Role, parts ...spool.Part) spool.Message {
		return spool.Message{Role: role, Content: parts}
	}
	shownImage, shownFile := text("[an image, which follows]"), text("[a file, which follows]")
	for name, c := range map[string]struct{ given, want []spool.Message }{
		"none": {
			[]spool.Message{message(spool.RoleUser, image), message(spool.RoleAssistant, text("Hi."))},
			[]spool.Message{message(spool.RoleUser, image), message(spool.RoleAssistant, text("Hi."))},
		},
		"a turn": {
			[]spool.Message{
				message(spool.RoleAssistant, text("Look:"), image, file), message(spool.RoleUser, text("And?")),
				message(spool.RoleUser, text("So?")),
			},
			[]spool.Message{
				message(spool.RoleAssistant, text("Look:"), shownImage, shownFile),
				message(spool.RoleUser, image, file, text("And?")), message(spool.RoleUser, text("So?")),
			},
		},
		"results": {
			[]spool.Message{message(spool.RoleAssistant, image), message(spool.RoleTool, result)},
			[]spool.Message{message(spool.RoleAssistant, shownImage), message(spool.RoleTool, result, image)},
		},
		"two answers": {
			[]spool.Message{message(spool.RoleAssistant, image), message(spool.RoleAssistant, file), message(spool.RoleUser)},
			[]spool.Message{
				message(spool.RoleAssistant, shownImage), message(spool.RoleAssistant, shownFile),
				message(spool.RoleUser, image, file),
			},
		},
		"the end": {
			[]spool.Message{message(spool.RoleAssistant, image)},
			[]spool.Message{message(spool.RoleAssistant, shownImage)},
		},
	} {
		given := slices.Clone(c.given)
		for i := range given {
			given[i].Content = slices.Clone(given[i].Content)
		}
		if diff := cmp.Diff(c.want, filepart.BehindAnswers(c.given)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(given, c.given); diff != "" {
			t.Errorf("%s: the messages have changed: %s", name, diff)
		}
	}
	if !filepart.Follows(shownImage) || !filepart.Follows(shownFile) || filepart.Follows(text("Hi.")) {
		t.Error("what follows is not known")
	}
}
