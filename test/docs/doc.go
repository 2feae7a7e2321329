// Package docs runs the pages: each fenced block of each page of the repository. Code that is
// only indented is refused.
//
// The blocks of a page run in page order, in one shell, in a folder of the page's own, with a
// network of its own (so that port 8080 is free for each page) and with a spool binary in the
// PATH. A page that builds or runs something of this repository has a copy of it as its
// folder. When the page is over, no process that it has started may be left.
//
// The language of a block says what happens to it.
//
//	sh         runs. Without an output after it, its last command has to succeed
//	console    each line after a "$ " runs, and prints the lines under it
//	text, json after sh or js: what that prints. json is also parsed where it is complete.
//	           Up to six lines of text may be between them, and no heading
//	json       elsewhere: is parsed
//	go         is a part of an example that tests compile and run, or a program, which is built
//	text       after go: is the Output of the same example; elsewhere: of any
//	yaml       is a configuration: "spool check" accepts it
//	js         runs in node, in the page's folder, beside the servers that the page has started
//
// Outputs are compared with what is printed: all of it, in its order. These may be different:
// the placeholders of match_test.go, such as ids and times, and what "…" stands for. A line of
// more than 90 characters may go on in the next one. What a server prints by itself in the
// background (its banner, its log) may be left out, as a whole.
//
// What curl sends to a path of spec/openapi.json, and the JSON that it prints, is what that
// document says: the server ignores a field that a page misspells.
//
// Anything else needs a comment right above its block, and the test lists these:
//
//	<!-- run by cmd/spool/internal/command/nginx_test.go -->  that test reads the page, or has the block in it
//	<!-- not run: it is a drawing -->        a reason
//
// To run one page: go test ./test/docs -run TestPages/docs/guides/tools.md
package docs
