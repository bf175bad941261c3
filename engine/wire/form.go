package wire

// ReplyForm is how a server writes a reply on its connection. What it comes to
// for the client is Reply.Kind: a driver in virtual time needs no more.
type ReplyForm uint8

// The forms of a reply. Those up to FormLast are whole as HTTP, so that their
// Kind is ReplyResponse; the others leave off too early, and their Kind is
// ReplyReset.
const (
	// FormWhole is written at once, as it should be.
	FormWhole ReplyForm = iota
	// FormGarbage has the right length and a body that is not what its type says.
	FormGarbage
	// FormDrip writes the body bit by bit, over Reply.Over.
	FormDrip
	// FormSlowHeader writes the header bit by bit, over Reply.Over.
	FormSlowHeader
	// FormLast is written at once; then the connection is closed, though the
	// reply has not said so.
	FormLast
	// FormNothing closes the connection before the first byte.
	FormNothing
	// FormCutHeader closes it inside the header.
	FormCutHeader
	// FormCutBody closes it inside the body.
	FormCutBody
	// FormBadChunk breaks the framing of a chunked body: what should be the size
	// of a chunk is none.
	FormBadChunk

	// NumReplyForms is the number of forms.
	NumReplyForms = int(FormBadChunk) + 1
)

var formNames = []string{
	"whole", "garbage", "drip", "slow_header", "last",
	"nothing", "cut_header", "cut_body", "bad_chunk",
}

// String is the form's name in snake case.
func (f ReplyForm) String() string { return nameOf(formNames, int(f)) }

// Ends says whether the connection is of no use after the reply.
func (f ReplyForm) Ends() bool { return f >= FormLast }

// ConnUse is what is known of the connection by which an attempt came.
type ConnUse uint8

// What may be known of a connection.
const (
	// ConnAssumed: nothing; a server model takes it for the one kept connection
	// of the client, and works out what became of that. So it is in virtual runs.
	ConnAssumed ConnUse = iota
	// ConnFresh: it is the connection's first request.
	ConnFresh
	// ConnKept: the connection has carried others.
	ConnKept
	// ConnClosed: the server had closed it for being idle when the request was
	// on its way.
	ConnClosed
)
