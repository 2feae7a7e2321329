package fault

import (
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxOwn is the maximum length of the text of a type's own error.
const maxOwn = 200

// Own returns the text of the error with which a type of the program refused a text, and false if a client
// must not get it. A client gets it if every error in the chain was made by [errors.New] or fmt.Errorf, or
// has a type of the same package as the type: then the program wrote it. Texts of other packages, such as
// strconv, reveal the program's insides. A text that repeats what was sent is left out as well.
func Own(err error, t reflect.Type, sent string) (string, bool) {
	words := err.Error()
	if words == "" || len(words) > maxOwn || !utf8.ValidString(words) ||
		strings.ContainsAny(words, "\n\r\x00") || !isOwn(err, t) {
		return "", false
	}
	if sent = strings.Trim(sent, `" `); sent != "" &&
		(len(sent) > 2 && strings.Contains(words, sent) || strings.Contains(words, strconv.Quote(sent)) ||
			strings.Contains(words, "'"+sent+"'")) {
		return "", false
	}

	return words, true
}

func isOwn(err error, t reflect.Type) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, strconv.ErrSyntax) ||
			errors.Is(err, strconv.ErrRange) {
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

// isStandard reports whether a package is one of Go's whose types read their own text. Its errors quote the
// text.
func isStandard(path string) bool {
	switch path {
	case "encoding/json", "log/slog", "math/big", "net", "net/netip", "net/url", "regexp", "time", "crypto/x509":
		return true
	}

	return false
}
