// Package bind fills structs from the parts of a request other than its JSON body: path, query, headers,
// cookies, form fields and files.
//
// [Compile] turns a struct type into a [Plan] once, when its route is registered, and finds mistakes in its
// tags. The plan then reads any number of requests. It looks up each parameter, parses it, checks it against
// its limits and stores it, and reports all faults at once.
//
// # Sources
//
// A field is a parameter if it has one of the tags path, query, header, cookie, form and file. The tag's
// value is the parameter's name. Embedded structs contribute their fields.
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
//   - integers and floats of every size; values that do not fit are refused, and so are NaN,
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
// A form field with the flag json, as in `form:"meta,json"`, is of any type, and the program decodes it.
//
// In a form, an empty value counts as not sent, unless the field is a text. If a parameter was not sent, its field
// gets the default of its tag, or stays zero, nil or absent. A default never replaces an explicit value. A list
// repeats its name (tag=a&tag=b), and is also split at commas if its tag says so (`query:"tag,comma"`). Every other
// parameter that is sent twice is refused, so that a proxy and the program cannot read different values.
//
// # Limits
//
// The tags minimum, maximum, exclusiveMinimum, exclusiveMaximum and multipleOf limit numbers and (except
// multipleOf) durations. minLength and maxLength count characters of text. pattern is a regular expression
// that must match somewhere in the text. enum lists the allowed values. format checks text. In a list these
// apply to each item; minItems, maxItems and uniqueItems apply to the list. required:"true" refuses a request
// without the parameter.
package bind
