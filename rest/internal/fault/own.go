package fault

import (
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxOwn is how long the words of a type's own error may be.
const maxOwn = 200

// Own returns the words of an error with which a type of the program refused a text, and false
// when they are not for the caller. They are when every error in the chain was made by
// [errors.New] or fmt.Errorf, or has a type of the same package as the type: such words are
// the program's. Those of other packages, such as strconv, tell of its insides. Words that
// repeat what was sent are left out as well.
func Own(err error, t reflect.Type, sent string) (string, bool) {
	words := err.Error()
	if words == "" || len(words) > maxOwn || !utf8.ValidString(words) || strings.ContainsAny(words, "\n\r\x00") || !isOwn(err, t) {
		return "", false
	}
	if sent = strings.Trim(sent, `" `); sent != "" && (len(sent) > 2 && strings.Contains(words, sent) || strings.Contains(words, strconv.Quote(sent)) ||
		strings.Contains(words, "'"+sent+"'")) {
		return "", false
	}

	return words, true
}

func isOwn(err error, t reflect.Type) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange) {
			return false
		}
		kind := reflect.TypeOf(err)
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if _, several := err.(interface{ Unwrap() []error }); several {
			return false
		}
		if path := kind.PkgPath(); path != "errors" && path != "fmt" && (path != t.PkgPath() || isStandard(path)) {
			return false
		}
	}

	return !isStandard(t.PkgPath())
}

// isStandard reports the packages of Go whose types read their own text. Their words quote it.
func isStandard(path string) bool {
	switch path {
	case "encoding/json", "log/slog", "math/big", "net", "net/netip", "net/url", "regexp", "time", "crypto/x509":
		return true
	}

	return false
}
