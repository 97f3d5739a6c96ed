package foreign

// Where the program lies. Segments are as far apart as the largest pages that Linux has on these processors. The machine code names the
// addresses of the table and of the request.
const (
	textAt    = 0x400000
	dataAt    = 0x620000 // addresses of the imports, then the request that is served
	dynamicAt = dataAt + 0x80
	memoryAt  = dataAt + 0x1000
	page      = 0x10000
)

// Descriptors of the process, as its machine code has them: where calls come in and where results go.
const (
	requestsAt = 3
	answersAt  = 4
)

// The machine code of each processor does this:
//
//	write(answersAt, dataAt, 32)                           // the addresses of the imports, as the loader has filled them in
//	while (read(requestsAt, dataAt+32, 56) == 56) {        // function, six arguments
//		result = (*request.function)(request.arguments…)
//		write(answersAt, &result, 8)
//	}
//	exit_group(0)
