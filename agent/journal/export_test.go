package journal

// LogFile is an open log file.
type LogFile = logFile

// Wrap makes the store use wrap(f) in place of each log file f that it opens.
func (s *Files) Wrap(wrap func(LogFile) LogFile) {
	open := s.open
	s.open = func(name string, flag int) (logFile, error) {
		f, err := open(name, flag)
		if err != nil {
			return nil, err
		}
		return wrap(f), nil
	}
}
