package certificate

// CheckAt is Check with a limit on the precision.
var CheckAt = check
