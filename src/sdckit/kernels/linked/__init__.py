"""The attack of an intruder who knows keys and numbers of a person: which record is the person's?"""
