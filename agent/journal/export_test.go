package journal

// LogFile is an open log file.
type LogFile = logFile

// Wrap lets a test stand between the store and its log files.
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
