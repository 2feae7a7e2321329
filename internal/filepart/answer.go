package filepart

import (
	"slices"

	"github.com/spoolhq/spool"
)

// What the model reads in its own answer instead of an image or a file.
const (
	imageFollows = "[an image, which follows]"
	fileFollows  = "[a file, which follows]"
)

// BehindAnswers returns messages in which the images and files of a model's answers are in the message behind them:
// most providers take them from a user only, and with the results of tools. An image that nothing follows is left
// out.
func BehindAnswers(messages []spool.Message) []spool.Message {
	if !slices.ContainsFunc(messages, hasFiles) {
		return messages
	}
	out := slices.Clone(messages)
	var held spool.Content
	for i, m := range out {
		switch {
		case m.Role == spool.RoleAssistant:
			content := make(spool.Content, len(m.Content))
			for n, p := range m.Content {
				content[n] = p
				if isFile(p) {
					held = append(held, p)
					content[n] = follows(p)
				}
			}
			out[i].Content = content
		case len(held) == 0:
		case m.Role == spool.RoleUser:
			held = append(held, m.Content...)
			out[i].Content, held = held, nil
		case m.Role == spool.RoleTool:
			out[i].Content, held = append(slices.Clone(m.Content), held...), nil
		}
	}
	return out
}

// Follows reports whether a part stands for an image or a file that follows.
func Follows(p spool.Part) bool {
	return p.Type == spool.PartText && (p.Text == imageFollows || p.Text == fileFollows)
}

func hasFiles(m spool.Message) bool {
	return m.Role == spool.RoleAssistant && slices.ContainsFunc(m.Content, isFile)
}

func isFile(p spool.Part) bool { return p.Type == spool.PartImage || p.Type == spool.PartFile }

func follows(p spool.Part) spool.Part {
	text := imageFollows
	if p.Type == spool.PartFile {
		text = fileFollows
	}
	return spool.Part{Type: spool.PartText, Text: text}
}
