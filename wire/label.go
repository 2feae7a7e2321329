package wire

import (
	"maps"
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

const (
	// maxLabels is how many labels a thread has at the most.
	maxLabels = 16
	// maxLabelValue is the length of the longest value of a label, in bytes.
	maxLabelValue = 256
	// maxTitle is the length of the longest title that somebody gives a thread, in characters.
	maxTitle = 200
)

var labelKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$`)

// CheckLabelKey returns an [spool.Invalid] error unless the text can be the key of a label: up to 63 letters,
// digits and the characters . _ / - with a letter or a digit first.
func CheckLabelKey(key string) error {
	if !labelKey.MatchString(key) {
		return spool.Errorf(spool.Invalid,
			"labels: a key has up to 63 letters, digits and the characters . _ / - and begins with a letter or a digit")
	}
	return nil
}

// CheckLabels returns an [spool.Invalid] error for labels that a thread cannot have: more than 16, a
// wrong key ([CheckLabelKey]), or a value that is empty, is longer than 256 bytes, is not UTF-8
// or has control characters.
func CheckLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return spool.Errorf(spool.Invalid, "labels: there are more than %d", maxLabels)
	}
	for key, value := range labels {
		if err := CheckLabelKey(key); err != nil {
			return err
		}
		switch {
		case value == "":
			return spool.Errorf(spool.Invalid, "labels.%s is empty", key)
		case len(value) > maxLabelValue:
			return spool.Errorf(spool.Invalid, "labels.%s is longer than %d bytes", key, maxLabelValue)
		case !plainText(value):
			return spool.Errorf(spool.Invalid, "labels.%s has control characters, or is not UTF-8", key)
		}
	}
	return nil
}

// CheckTitle returns an [spool.Invalid] error for a title of more than 200 characters, with control characters, or
// that is not UTF-8.
func CheckTitle(title string) error {
	switch {
	case utf8.RuneCountInString(title) > maxTitle:
		return spool.Errorf(spool.Invalid, "title is longer than %d characters", maxTitle)
	case !plainText(title):
		return spool.Errorf(spool.Invalid, "title has control characters, or is not UTF-8")
	}
	return nil
}

// plainText reports whether a text is UTF-8 without control characters.
func plainText(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// Equal reports whether two rows are the same. Times are compared as they stand.
func (t Thread) Equal(other Thread) bool {
	return t.Tenant == other.Tenant && t.ID == other.ID && t.State == other.State && t.Model == other.Model &&
		t.Title == other.Title && t.Owner == other.Owner && maps.Equal(t.Labels, other.Labels) &&
		t.CreatedAt == other.CreatedAt && t.UpdatedAt == other.UpdatedAt && t.RunID == other.RunID && //nolint:staticcheck // as they stand, not as instants
		t.LastSeq == other.LastSeq && t.Fence == other.Fence && t.Expired == other.Expired && t.LeaseUntil == other.LeaseUntil //nolint:staticcheck // as above
}
