package openai

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// form is how requests are written, as far as servers differ in it. A model begins with the form of its profile and its
// configuration, and learns from refusals: see docs/design/0036-fields-that-a-server-refuses.md.
type form struct {
	maxTokens string
	// reasoning is the field of reasoning. Empty: none.
	reasoning string
	needed    ReasoningNeeded
	cache     PromptCache
	// streamUsage, strict and parallel say whether stream_options, strict and parallel_tool_calls are sent.
	streamUsage, strict, parallel bool
	// images says whether the images of results are sent.
	images bool
	// answerAfterResults puts an answer between results and a message of a user.
	answerAfterResults bool
}

// sent says which fields of the form a request has.
type sent struct {
	maxTokens, streamUsage, strict, parallel, cacheKey, marks bool
	reasoning                                                 bool
	// answers is true if the request has a message of a model.
	answers bool
	// resultImages is true if the request has images or files of results, and withheld if it would have some.
	resultImages, withheld bool
	// userAfterTool is true if the request has a message of a user directly behind results.
	userAfterTool bool
}

// change is another form of one field. Lines are the lines of a configuration file that say the same.
type change struct {
	lines []string
	apply func(*form)
}

// maxChanges bounds how often one request is asked again: once for each field of the form, for the order of the
// messages, and for the images of results.
const maxChanges = 8

var (
	// refusal has the words with which servers refuse a field.
	refusal = regexp.MustCompile(`not (?:supported|permitted|allowed|recognized|available|a valid|accepted)|unsupported|unrecognized|unknown|unexpected|forbidden|does(?: not|n't) (?:support|accept)|extra (?:inputs|fields)|invalid (?:field|parameter|argument)`)
	// demand has the words with which servers demand a field.
	demand = regexp.MustCompile(`must be|missing|required`)
	// noImages has the words with which servers refuse all images. Their statuses differ.
	noImages = regexp.MustCompile(`image input|image_url|image\(s\)|vision|multi-?modal|mmproj|unknown variant .?file|` +
		`(?:support|accept|allow|take)\w* (?:\w+ )?(?:images?|files?)\b|(?:images?|files?) (?:\w+ )?(?:is|are) not (?:supported|allowed|accepted)`)
	// field is a name of a field in a message.
	field = regexp.MustCompile(`[a-z_]+`)
)

// refused returns the form that a server may accept after it has refused a request. Only the fields of the form count,
// and only if the server's message names one that the request has. Begun is the form of the first request: a field that
// differs from it does not change again, so that a server cannot have it changed back and forth. It returns false if
// there is no other form.
func (f form) refused(begun form, s sent, err error) (change, bool) {
	e, ok := errors.AsType[*spool.ModelError](err)
	if ok && s.resultImages && f.images == begun.images && !e.ContextOverflow && e.Status >= http.StatusBadRequest &&
		e.Status != http.StatusTooManyRequests && noImages.MatchString(strings.ToLower(e.Message)) {
		return change{[]string{"result_images: false"}, func(f *form) { f.images = false }}, true
	}
	if !ok || e.ContextOverflow || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return change{}, false
	}
	text := strings.ToLower(e.Message)
	named := field.FindAllString(text, -1)
	names := func(field string) bool { return slices.Contains(named, field) }
	unwanted := refusal.MatchString(text)
	sameReasoning := f.reasoning == begun.reasoning && f.needed == begun.needed
	if names("reasoning_content") && s.answers && f.needed != NeededAlways && sameReasoning && !unwanted &&
		demand.MatchString(text) {
		return change{[]string{"reasoning_field: reasoning_content", "reasoning_needed: always"}, func(f *form) {
			f.reasoning, f.needed = "reasoning_content", NeededAlways
		}}, true
	}
	if !unwanted {
		return change{}, false
	}
	other := map[string]string{"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[f.maxTokens]
	switch {
	case s.maxTokens && f.maxTokens == begun.maxTokens && names(f.maxTokens) && other != "":
		return change{[]string{"max_tokens_field: " + other}, func(f *form) { f.maxTokens = other }}, true
	case s.streamUsage && (names("stream_options") || names("include_usage")):
		return change{[]string{"stream_usage: false"}, func(f *form) { f.streamUsage = false }}, true
	case s.reasoning && sameReasoning && f.reasoning != inContent && names(f.reasoning):
		return change{[]string{"reasoning_field: none"}, func(f *form) { f.reasoning, f.needed = "", NeededNever }}, true
	case s.parallel && names("parallel_tool_calls"):
		return change{[]string{"parallel_tool_calls: false"}, func(f *form) { f.parallel = false }}, true
	case s.strict && names("strict"):
		return change{[]string{"strict_schemas: false"}, func(f *form) { f.strict = false }}, true
	case s.userAfterTool && strings.Contains(text, "role 'user' after role 'tool'"):
		return change{[]string{"answer_after_results: true"}, func(f *form) { f.answerAfterResults = true }}, true
	case s.cacheKey && names("prompt_cache_key"), s.marks && names("cache_control"):
		return change{[]string{"prompt_cache: none"}, func(f *form) { f.cache = CacheNone }}, true
	default:
		return change{}, false
	}
}

// learn changes the form of the model's later requests.
func (m *Model) learn(changes []change) {
	m.learning.Lock()
	defer m.learning.Unlock()

	for _, c := range changes {
		next := *m.form.Load()
		before := next
		c.apply(&next)
		if next == before { // another request has learned it
			continue
		}
		m.form.Store(&next)
		for _, line := range c.lines {
			m.config.Log.Warn("the model server refused a field, and took the request in another form; this line in the file spares the refusal",
				"line", line, "model", m.config.Model, "host", m.conn.Host)
		}
	}
}
