package catalogue

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/spoolhq/spool"
)

const (
	// inName and inDescription are what a word is worth by its place.
	inName, inDescription = 3.0, 1.0
	// begins is what the beginning of a word is worth beside the whole word.
	begins = 0.5
	// ofName is what a name is worth more if all of its words are asked for.
	ofName = 0.5
	// maxIndexed bounds what is indexed of a description, in bytes.
	maxIndexed = 4 << 10
	// maxWords bounds the words of a query.
	maxWords = 24
)

// fillers are words of a query that say nothing, unless it has no others.
var fillers = map[string]bool{
	"a": true, "an": true, "and": true, "api": true, "by": true, "can": true, "do": true, "for": true, "from": true,
	"how": true, "i": true, "in": true, "is": true, "it": true, "me": true, "my": true, "of": true, "on": true, "or": true,
	"that": true, "the": true, "this": true, "to": true, "tool": true, "want": true, "what": true, "which": true,
	"with": true,
}

// index finds tools by words. The rarer a word is, the more it counts.
type index struct {
	words map[string][]place
	// sorted has the words in order, so that the sum of a score never depends on that of a map.
	sorted []string
	// named is how many words the name of each tool has.
	named []int
}

// place is a tool that has a word, and what the word is worth there.
type place struct {
	tool  int
	value float64
}

func newIndex(tools []*spool.Tool) *index {
	x := &index{words: make(map[string][]place), named: make([]int, len(tools))}
	for i := range tools {
		seen := make(map[string]bool)
		add := func(text string, value float64) (n int) {
			for _, word := range words(text) {
				if word = stem(word); !seen[word] {
					seen[word] = true
					x.words[word] = append(x.words[word], place{i, value})
					n++
				}
			}
			return n
		}
		x.named[i] = add(tools[i].Name, inName)
		text := tools[i].Description
		add(text[:min(len(text), maxIndexed)], inDescription)
	}
	for word := range x.words {
		x.sorted = append(x.sorted, word)
	}
	slices.Sort(x.sorted)
	return x
}

// hit is the score of a tool.
type hit struct {
	tool    int
	score   float64
	inNames int // how many of the words are in its name
}

// search returns the tools that have a word of a query, the best ones first. Of two that are as good, the one that the
// agent has first is first.
func (x *index) search(query string) []int {
	scores := make(map[int]*hit)
	for _, word := range queryWords(query) {
		for tool, best := range x.places(word) {
			h := scores[tool]
			if h == nil {
				h = &hit{tool: tool}
				scores[tool] = h
			}
			h.score += best.score
			h.inNames += best.inNames
		}
	}
	hits := make([]hit, 0, len(scores))
	for _, h := range scores {
		h.score *= 1 + ofName*float64(min(h.inNames, x.named[h.tool]))/float64(max(x.named[h.tool], 1))
		hits = append(hits, *h)
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.tool, b.tool)) })
	out := make([]int, len(hits))
	for i, h := range hits {
		out[i] = h.tool
	}
	return out
}

// queryWords returns the different words of a query, stemmed, without fillers if there are others.
func queryWords(query string) []string {
	var all, distinctive []string
	for _, word := range words(query) {
		filler := fillers[word]
		if word = stem(word); slices.Contains(all, word) {
			continue
		}
		if all = append(all, word); !filler {
			distinctive = append(distinctive, word)
		}
	}
	if len(distinctive) > 0 {
		all = distinctive
	}
	return all[:min(len(all), maxWords)]
}

// places returns the tools that have a word, or a word that it begins or that begins it. Each has its best score.
func (x *index) places(queryWords string) map[int]hit {
	best := make(map[int]hit)
	for _, word := range x.sorted {
		share := likeness(queryWords, word)
		if share == 0 {
			continue
		}
		rarity := math.Log1p(float64(len(x.named)) / float64(len(x.words[word])))
		for _, p := range x.words[word] {
			h := hit{tool: p.tool, score: share * rarity * p.value}
			if p.value == inName {
				h.inNames = 1
			}
			if h.score > best[p.tool].score {
				best[p.tool] = h
			}
		}
	}
	return best
}

// likeness says how much a word of a tool is the word that is asked for, from 0 to 1.
func likeness(queryWords, word string) float64 {
	switch {
	case queryWords == word:
		return 1
	case len(queryWords) >= 3 && strings.HasPrefix(word, queryWords), len(word) >= 4 &&
		strings.HasPrefix(queryWords, word):
		return begins
	default:
		return 0
	}
}

// words returns the words of a text or a name in lower case. A name in camel case, or with underscores, has several. A
// character of a script without spaces is a word.
func words(text string) (all []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			all = append(all, string(word))
		}
		word = nil
	}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end()
			continue
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end()
			all = append(all, string(r))
			continue
		case i == 0:
		case unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1]),
			unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]): // as in listPets, and in getURLInfo
			end()
		}
		word = append(word, unicode.ToLower(r))
	}
	end()
	return all
}

// stem returns a word without its English ending, so that "creates" and "creating" are "create". What it makes need not
// be a word, but it makes the same of each form.
func stem(word string) string {
	for _, s := range []struct {
		ending, by string
		least      int // how long the word has to be
	}{{"ies", "y", 5}, {"sses", "ss", 5}, {"ing", "", 6}, {"ed", "", 5}, {"s", "", 4}} {
		if len(word) >= s.least && strings.HasSuffix(word, s.ending) && !strings.HasSuffix(word, "ss") &&
			!strings.HasSuffix(word, "us") {
			word = strings.TrimSuffix(word, s.ending) + s.by
			break
		}
	}
	if len(word) >= 5 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}
