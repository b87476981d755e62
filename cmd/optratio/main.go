// Command optratio decides how good a differentially private selection mechanism is. Package cli holds all of it.
package main

import "optratio/cli"

func main() { cli.Main() }
