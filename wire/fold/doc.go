// Package fold has the rules by which the entries of a record and the items of a run stream become what somebody
// sees: what each of them says, which question it opens, replaces, extends or settles, what the end of a segment
// means for its run, and what an agent has said in its step.
//
// It keeps no thread. [Entry], [Item] and [ContentOf] are functions of one entry or item. [Parks] and [Step] are small
// values of their owner. [github.com/spoolhq/spool/client/view] keeps a whole thread with them, and
// server/projection no more than the open step of one client. The TypeScript client has the same rules, in files of the
// same names, and spec/fixtures holds both to them.
package fold
