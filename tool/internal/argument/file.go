package argument

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
)

// unknownType is the content type of a file of an unknown kind.
const unknownType = "application/octet-stream"

// File is a file that an argument names.
type File struct {
	// Name may be empty, and so may MediaType.
	Name, MediaType string
	Data            []byte
}

// OpenFunc returns the file that the text of an argument names.
type OpenFunc func(text string) (File, error)

// openFile returns the file that an argument names, and its content type, which is one of the wanted types.
func openFile(arg string, value any, wanted []string, open OpenFunc) (File, string, error) {
	text, ok := value.(string)
	if !ok || open == nil {
		return File{}, "", wrong(arg, "must be the id or the URI of an artifact")
	}
	file, err := open(text)
	if err != nil {
		return File{}, "", &spool.Error{
			Code: spool.CodeOf(err), Message: "argument " + argschema.Bound(arg) + ": " + argschema.Bound(spool.MessageOf(err)),
			Err: err,
		}
	}
	kind, ok := fileType(file.MediaType, wanted)
	if !ok {
		return File{}, "", wrong(arg, "is a file of the type "+argschema.Bound(file.MediaType)+", and must be "+
			argschema.Bound(strings.Join(wanted, " or ")))
	}
	return file, kind, nil
}

// fileType returns the content type of a file where only some are wanted.
func fileType(value string, wanted []string) (string, bool) {
	value = strings.ToLower(value)
	if value == "" {
		value = unknownType
	}
	bare := func(kind string) string {
		kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
		return strings.TrimSpace(kind)
	}
	for _, kind := range wanted {
		switch prefix, isRange := strings.CutSuffix(bare(kind), "*"); {
		case !isRange && bare(kind) == value:
			return kind, true
		case isRange && (prefix == "*/" || strings.HasPrefix(value, prefix)):
			return value, true
		}
	}
	if len(wanted) == 0 {
		return value, true
	}
	if at := slices.IndexFunc(wanted, func(kind string) bool { return bare(kind) == unknownType }); at >= 0 {
		return wanted[at], true
	}
	if at := slices.IndexFunc(wanted, func(kind string) bool { return !strings.Contains(kind, "*") }); at >= 0 &&
		value == unknownType {
		return wanted[at], true
	}
	return "", false
}

// fill writes the data of the files at a place of a body into it, in base64. It changes a copy.
func fill(arg string, value any, steps []string, open OpenFunc) (any, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // null is a value
	}
	if len(steps) == 0 {
		file, _, err := openFile(arg, value, nil, open)
		return base64.StdEncoding.EncodeToString(file.Data), err
	}
	var err error
	switch v := value.(type) {
	case []any:
		if steps[0] != "*" {
			return value, nil
		}
		v = slices.Clone(v)
		for i := range v {
			if v[i], err = fill(arg+"."+strconv.Itoa(i), v[i], steps[1:], open); err != nil {
				return nil, err
			}
		}
		return v, nil
	case map[string]any:
		v = maps.Clone(v)
		for key, below := range v {
			if steps[0] != "*" && steps[0] != "."+key {
				continue
			}
			if v[key], err = fill(arg+"."+key, below, steps[1:], open); err != nil {
				return nil, err
			}
		}
		return v, nil
	default:
		return value, nil
	}
}
