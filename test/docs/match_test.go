package docs

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// placeholders are what is different each time: what of a page's output one looks like, and
// what may be printed in its place.
var placeholders = []struct{ shown, printed string }{
	{`…`, `(?s:.*?)`}, // what the page has cut
	{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`, `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`},
	{`\d{4}[-/]\d\d[-/]\d\d \d\d:\d\d:\d\d`, `\d{4}[-/]\d\d[-/]\d\d \d\d:\d\d:\d\d`},
	{`\b(?:thr|run|msg|req|evt|sub)_[0-9a-z]{26}\b`, `[a-z]{3}_[0-9a-z]{26}`},
	{`_(\d+)-[0-9a-z]{6}\b`, `_\d+-[0-9a-z]{6}`},                   // a call of a nested run
	{`\b[A-Z2-7]{26}\b`, `[A-Z2-7]{26}`},                           // a token, the id of a database
	{`\b\d{15}\b`, `\d{15}`},                                       // a job
	{`\b\d+(?:\.\d+)?(?:ms|µs)`, `\d+(?:\.\d+)?(?:ms|µs|s)`},       // how long something took
	{`\b\d+\.\d{4,}(?:e-\d+)?`, `\d+(?:\.\d+)?(?:e-\d+)?`},         // the same in seconds
	{`\bid: -?\d+ r\d+:\d+ \d+-\d+`, `id: -?\d+ r\d+:\d+ \d+-\d+`}, // where a stream is
	{`/[0-9a-f]{32}\b`, `/[0-9a-f]{32}`},                           // the end of an idempotency key
	{`\b\d+ pages\b`, `\d+ pages`},                                 // of a database
	{`"offset":"\d+-\d+"`, `"offset":"\d+-\d+"`},
	{`\bsha256:[0-9a-f]{12,64}\b`, `sha256:[0-9a-f]{12,64}`}, // a digest, which covers the agent
	{`\brev_[0-9a-f]{8,64}\b`, `rev_[0-9a-f]{8,64}`},
	{`/srv/spool\b`, `/[^ ]*/page`}, // the folder of the page
	{`  +`, ` +`},                   // a column
}

var shown = func() *regexp.Regexp {
	var all []string
	for _, p := range placeholders {
		all = append(all, "("+strings.ReplaceAll(strings.ReplaceAll(p.shown, "(?:", "\x00"), "(", "(?:")+")")
	}
	return regexp.MustCompile(strings.ReplaceAll(strings.Join(all, "|"), "\x00", "(?:"))
}()

// wrapped is how long a line of a page is at least that goes on in the next one.
const wrapped = 90

// pattern returns the expression for a line of an output.
func pattern(line string) string {
	var b strings.Builder
	rest := 0
	for _, at := range shown.FindAllStringSubmatchIndex(line, -1) {
		b.WriteString(regexp.QuoteMeta(line[rest:at[0]]))
		for i, p := range placeholders {
			if at[2*i+2] >= 0 {
				b.WriteString(p.printed)
			}
		}
		rest = at[1]
	}
	b.WriteString(regexp.QuoteMeta(line[rest:]))
	return b.String()
}

// match reports whether printed is what a page shows, and if not, which line of the page is
// the first that is not there.
func match(want, printed string) (bool, string) {
	printed = trim(printed)
	expression := `\A`
	lines := strings.Split(trim(want), "\n")
	for i, line := range lines {
		if i > 0 && utf8.RuneCountInString(lines[i-1]) > wrapped {
			line = strings.TrimLeft(line, " ")
		}
		expression += pattern(line)
		last := i == len(lines)-1
		end := `(?:\n|\z)`
		switch {
		case last:
			end = `\z`
		case strings.TrimSpace(line) == "…" || strings.TrimSpace(lines[i+1]) == "…":
			end = `\n?`
		case utf8.RuneCountInString(line) > wrapped:
			end = `\s*`
		}
		expression += end
		if !regexp.MustCompile(expression).MatchString(printed) {
			return false, line
		}
	}
	return true, ""
}

// trim leaves out white space at the end of each line and of all.
func trim(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// background is what comes by itself and may be left out: logs, and what the shell tells of
// its jobs.
var background = []struct{ begin, all *regexp.Regexp }{
	same(`(?m)^time=\S+ level=.*\n?`),
	same(`(?m)^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d (?:INFO|WARN) .*\n?`),
	{
		regexp.MustCompile(`(?m)^spool listens on`),
		regexp.MustCompile(`(?ms)^spool listens on .*?^All endpoints, [^\n]*\n\n?`),
	},
	same(`(?m)^(?:\S+: line \d+: +\d+ |\[\d+\][-+]? +(?:\d+ )?)(?:Killed|Terminated|Done|Exit \d+).*\n?`),
}

func same(expression string) struct{ begin, all *regexp.Regexp } {
	compiled := regexp.MustCompile(expression)
	return struct{ begin, all *regexp.Regexp }{compiled, compiled}
}

// visible returns what was printed without what the page leaves out.
func visible(want, printed string) string {
	for _, b := range background {
		if !b.begin.MatchString(want) {
			printed = b.all.ReplaceAllString(printed, "")
		}
	}
	return printed
}

// differ says how the output of a block differs from what its page shows. It is empty if it
// does not.
func differ(want block, printed string) string {
	seen := visible(want.text, printed)
	ok, line := match(want.text, seen)
	if ok {
		return ""
	}
	return fmt.Sprintf("%s:%d: the page shows something else than what is printed. Of what it shows, this line is the first that is not there:\n  %s\n--- printed:\n%s--- shown:\n%s---",
		want.page, want.line, line, short(trim(seen)+"\n"), want.text)
}

// short cuts long lines, and what is long because somebody has followed a stream.
func short(text string) string {
	const head, tail, longest = 40, 20, 600
	var b strings.Builder
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if i >= head && i < len(lines)-tail {
			if i == head {
				b.WriteString("(and more)\n")
			}
			continue
		}
		if len(line) > longest {
			line = strings.ToValidUTF8(line[:longest], "") + " (and more)\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
