// Package bind fills structs from what a request carries beside its JSON body: path,
// query, headers, cookies, form fields and files.
//
// A struct type is compiled once, when its route is registered, into a [Plan]. Mistakes in
// its tags are found there. The plan then reads any number of requests: it looks each
// parameter up, parses it, holds it against its limits and stores it, and reports all that
// is wrong at once.
//
// # Sources
//
// A field is a parameter when it has one of the tags path, query, header, cookie, form and
// file, whose value is the parameter's name. Embedded structs contribute their fields.
//
//	type ListBooks struct {
//		Shop  int64         `path:"shop"`
//		Limit int           `query:"limit" default:"20" minimum:"1" maximum:"100"`
//		Tags  []string      `query:"tag" maxItems:"10"`
//		Since *time.Time    `query:"since"`
//		Max   opt.Opt[int]  `query:"max"`
//		Trace netip.Addr    `header:"X-Client"`
//	}
//
// # Types
//
//   - strings, which must be UTF-8 without NUL
//   - booleans: true, false, 1, 0, yes, no, on, off, t, f, y and n in any case
//   - integers and floats of every size; what does not fit is refused, and so are NaN,
//     infinities and "1.0" for an integer
//   - [time.Time] in the form of RFC 3339, or with format:"date" as 2006-01-02, or with
//     format:"time" as 15:04:05, with or without an offset
//   - [time.Duration] as in 1h30m or PT1H30M
//   - [url.URL] with a scheme, or with format:"uri-reference" without one too
//   - types that implement [encoding.TextUnmarshaler]
//   - lists of these except []byte, which could be a text or numbers; pointers to these and
//     to lists, and Opt of these and of lists
//   - [*multipart.FileHeader] and lists of it, for files only
//
// A parameter that was not sent leaves its field as it is: zero, nil or absent, or what
// the tag default says. An explicit value is never replaced by a default. A list repeats
// its name (tag=a&tag=b), and is also split at commas when its tag says so
// (`query:"tag,comma"`). Anything else that is sent twice is refused, so that a proxy
// before the program and the program cannot read different values.
//
// # Limits
//
// The tags minimum, maximum, exclusiveMinimum, exclusiveMaximum and multipleOf hold
// numbers and (without multipleOf) durations; minLength and maxLength count characters of
// text; pattern is a regular expression that has to match somewhere in the text; enum lists
// the allowed values; format checks text. In a list they hold for each item, while
// minItems, maxItems and uniqueItems hold for the list. required:"true" refuses a request
// without the parameter.
package bind
