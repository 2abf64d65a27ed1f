package journal

// LogFile is an open log file.
type LogFile = logFile

// Wrap makes the store use wrap(f) in place of each log file f that it opens.
func (s *Files) Wrap(wrap func(LogFile) LogFile) {
	open := s.open
	s.open = func(name string) (logFile, error) {
		f, err := open(name)
		if err != nil {
			return nil, err
		}
		return wrap(f), nil
	}
}
