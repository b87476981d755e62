package number

// InputError says that what was asked cannot be answered because of the question: a size, a parameter or a file that is
// refused. Packages define such errors as sentinels and wrap them with the particulars; every other error is a failure to
// answer. A command tells the two apart by errors.As and ends with the exit code of bad input.
type InputError string

func (e InputError) Error() string { return string(e) }
