// Command site is the pages of package front as static files, with the engine and the documents of the repository beside them.
//
// Compiled to WebAssembly it is the engine: a page's worker asks it about one form after the other, and it answers with the
// page's HTML. It does the jobs of command lines as the command does, by calling the same packages, and gives the same documents; it
// has no flags library and opens no files. Compiled natively it writes the pages; scripts/site adds the engine.
package main
