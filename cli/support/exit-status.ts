/** The exit status of a command that has done all it could, but files are missing. */
export const incompleteStatus = 3;
