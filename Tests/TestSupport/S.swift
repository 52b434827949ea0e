import NshTrust
