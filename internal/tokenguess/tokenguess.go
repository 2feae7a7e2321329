// Package tokenguess estimates how many tokens a text has for a model. It goes by runs of characters: words, digits,
// hex and base64, scripts, punctuation and white space. For a tokenizer of today the estimate is between 0.9 and 2
// times the count. It is rather too high than too low, because other tokenizers need more tokens than that one, for
// scripts that few of their texts had above all.
package tokenguess

// The costs are in hundredths of a token.
const (
	token = 100
	// randomChar is a character of hex or base64, whose letters form no words.
	randomChar = 73
	// A word is a token up to plainLetters letters. A letter more costs moreLetter, and one with a mark costs markedLetter
	// in addition. Capitals form words of capitalLetters.
	plainLetters, moreLetter, markedLetter = 3, 21, 60
	capitalLetters, moreCapital            = 4, 22
	// digits is how many digits are a token.
	digits = 3
	// morePunctuation is a further character of a run of punctuation, and samePunctuation one that repeats the last one.
	morePunctuation, samePunctuation = 50, 8
	// joinedPunctuation is one that stands before a letter, with which it may be a token.
	joinedPunctuation = 70
)

// script says what a letter of a script costs, and the run in which it is in addition.
type script struct {
	from, to    rune
	letter, run int64
}

// scripts are sorted. A character of none of them costs a token.
var scripts = []script{
	{0x0370, 0x03FF, 60, 60},   // Greek
	{0x0400, 0x052F, 34, 60},   // Cyrillic
	{0x0590, 0x05FF, 68, 60},   // Hebrew
	{0x0600, 0x06FF, 54, 60},   // Arabic
	{0x0900, 0x0DFF, 64, 50},   // Devanagari, Bengali, Tamil and others of India
	{0x0E00, 0x0EFF, 72, 0},    // Thai, Lao
	{0x1000, 0x17FF, 90, 0},    // Burmese, Georgian, Amharic, Khmer
	{0x1F00, 0x1FFF, 70, 60},   // Greek with marks
	{0x2010, 0x202F, 100, 0},   // dashes, quotation marks
	{0x2190, 0x2BFF, 180, 0},   // arrows, signs, boxes
	{0x3000, 0x303F, 90, 0},    // East Asian punctuation
	{0x3040, 0x30FF, 95, 0},    // kana
	{0x3400, 0x9FFF, 105, 0},   // Chinese characters
	{0xAC00, 0xD7AF, 105, 20},  // Hangul
	{0xFE00, 0xFE0F, 60, 0},    // variants of signs
	{0xFF00, 0xFFEF, 100, 0},   // full width
	{0x10000, 0x1F2FF, 300, 0}, // old scripts, symbols
	{0x1F300, 0x1FAFF, 260, 0}, // pictures
	{0x20000, 0x3FFFF, 300, 0}, // rare Chinese characters
}

type class uint8

const (
	punctuation class = iota
	space
	newline
	digit
	lower
	upper
	high // a part of a longer character
)

var classes = func() (table [256]class) {
	for c := range table {
		switch b := byte(c); {
		case b == ' ' || b == '\t':
			table[c] = space
		case b == '\n' || b == '\r':
			table[c] = newline
		case '0' <= b && b <= '9':
			table[c] = digit
		case 'a' <= b && b <= 'z':
			table[c] = lower
		case 'A' <= b && b <= 'Z':
			table[c] = upper
		case b >= 0x80:
			table[c] = high
		}
	}
	return table
}()

// Of returns the estimate.
func Of(text string) int64 {
	var cost int64
	for i := 0; i < len(text); {
		var n int64
		from := i
		switch classes[text[i]] {
		case lower: // most of a text is such words, and a space before each
			i++
			for i < len(text) && classes[text[i]] == lower {
				i++
			}
			if i < len(text) && classes[text[i]] > newline {
				i, n = letters(text, from)
			} else {
				n = word(0, int64(i-from), 0)
			}
		case digit, upper:
			i, n = letters(text, i)
		case high:
			if marked(text, i) > 0 {
				i, n = letters(text, i)
			} else {
				i, n = foreign(text, i)
			}
		case space:
			if i++; i == len(text) || classes[text[i]] < lower {
				i, n = blank(text, from)
			}
		case newline:
			i, n = blank(text, i)
		case punctuation:
			i, n = signs(text, i)
		}
		if i == from { // cannot be
			i++
		}
		cost += n
	}
	return (cost + token - 1) / token
}

// letters returns the end and the cost of a run of Latin letters and digits.
func letters(text string, i int) (int, int64) {
	from, changes := i, 0
	var cost int64
	for last := newline; i < len(text); {
		c := classes[text[i]]
		start := i
		switch c {
		case digit:
			for i < len(text) && classes[text[i]] == digit {
				i++
			}
			cost += int64((i-start+digits-1)/digits) * token
		case upper, lower, high:
			var capitals, plain, marks int64
			for i < len(text) && classes[text[i]] == upper {
				capitals++
				i++
			}
			for i < len(text) {
				if classes[text[i]] == lower {
					plain++
					i++
				} else if size := marked(text, i); size > 0 {
					marks++
					i += size
				} else {
					break
				}
			}
			if i == start { // of another script
				return done(from, i, changes, cost)
			}
			if capitals > 0 && plain > 0 {
				changes++
			}
			cost += word(capitals, plain, marks)
		default:
			return done(from, i, changes, cost)
		}
		if last != newline {
			changes++
		}
		last = c
	}
	return done(from, i, changes, cost)
}

// done returns the cost of a run of letters and digits. If its kinds of characters change all the time, the run is hex,
// base64 or the like.
func done(from, to, changes int, cost int64) (int, int64) {
	if length := to - from; changes >= 3 && changes*10 >= length*3 {
		return to, max(cost, int64(length)*randomChar)
	}
	return to, cost
}

// word returns the cost of a word: capitals, then small letters, of which some may have marks.
func word(capitals, plain, marks int64) int64 {
	cost := token + marks*markedLetter
	if length := capitals + plain + marks; capitals <= 1 {
		cost += max(0, length-plainLetters) * moreLetter
	} else {
		cost += max(0, length-capitalLetters) * moreCapital
	}
	return cost
}

// marked returns the size of a Latin letter that is not in ASCII, or zero.
func marked(text string, i int) int {
	switch c := text[i]; {
	case c >= 0xC3 && c <= 0xC9 && i+1 < len(text): // U+00C0 to U+024F
		return 2
	case c == 0xE1 && i+2 < len(text) && text[i+1] >= 0xB8 && text[i+1] <= 0xBB: // U+1E00 to U+1EFF
		return 3
	default:
		return 0
	}
}

// foreign returns the end and the cost of a run of characters of one script.
func foreign(text string, i int) (int, int64) {
	first := scriptOf(text, i)
	cost := first.run
	for i < len(text) && classes[text[i]] == high && marked(text, i) == 0 {
		s := scriptOf(text, i)
		if s.from != first.from {
			break
		}
		cost += s.letter
		i += size(text[i])
	}
	return min(i, len(text)), cost
}

// unknown is the script of the other characters.
var unknown = script{letter: token}

func scriptOf(text string, i int) script {
	r := rune(text[i])
	switch n := size(text[i]); {
	case i+n > len(text):
		return unknown
	case n == 2:
		r = r&0x1F<<6 | rune(text[i+1]&0x3F)
	case n == 3:
		r = r&0x0F<<12 | rune(text[i+1]&0x3F)<<6 | rune(text[i+2]&0x3F)
	case n == 4:
		r = r&0x07<<18 | rune(text[i+1]&0x3F)<<12 | rune(text[i+2]&0x3F)<<6 | rune(text[i+3]&0x3F)
	}
	var at int
	if r < blocks<<blockBits {
		at = int(byBlock[r>>blockBits])
	} else {
		at = find(r)
	}
	if at < len(scripts) {
		return scripts[at]
	}
	return unknown
}

// Characters come in blocks of one script. byBlock has what find says of the first ones.
const blockBits, blocks = 4, 0x1000

var byBlock = func() (table [blocks]uint8) {
	for b := range table {
		table[b] = uint8(find(rune(b) << blockBits))
	}
	return table
}()

// find returns the index of the script of a character, or the number of scripts.
func find(r rune) int {
	for i, s := range scripts {
		if s.from <= r && r <= s.to {
			return i
		}
	}
	return len(scripts)
}

// size returns the size of a character by its first byte.
func size(first byte) int {
	switch {
	case first >= 0xF0:
		return 4
	case first >= 0xE0:
		return 3
	case first >= 0xC0:
		return 2
	default:
		return 1
	}
}

// blank returns the end and the cost of a run of white space. A space before a word is a part of the word's token.
func blank(text string, i int) (int, int64) {
	from, lines, after := i, 0, 0
	for ; i < len(text); i++ {
		if c := classes[text[i]]; c == newline {
			lines, after = lines+1, 0
		} else if c == space {
			after++
		} else {
			break
		}
	}
	var cost int64
	if lines > 0 && (from == 0 || classes[text[from-1]] != punctuation) {
		cost = token
	}
	if after > 1 || after == 1 && i < len(text) && classes[text[i]] == digit {
		cost += token
	}
	return i, cost
}

// signs returns the end and the cost of a run of punctuation.
func signs(text string, i int) (int, int64) {
	cost := int64(token)
	for from, last := i, text[i]; ; last = text[i] {
		i++
		switch {
		case i == len(text):
			return i, cost
		case i == from+1 && (classes[text[i]] == lower || classes[text[i]] == upper):
			return i, joinedPunctuation
		case classes[text[i]] != punctuation:
			return i, cost
		}
		if text[i] == last {
			cost += samePunctuation
		} else {
			cost += morePunctuation
		}
	}
}
