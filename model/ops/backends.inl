// The backends, slowest first: `automatic` takes the last one that can do a call (why_not). NAME is
// the folder, the namespace and the name on the command line; NAME::functions() (backend.h) is all
// that others know of it.
AFT_BACKEND(reference)
AFT_BACKEND(tiled)
AFT_BACKEND(cpu)
