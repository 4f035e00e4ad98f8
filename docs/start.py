from pckid import PCKID, report
from pckid.data import load_penguins
from pckid.metrics import clustering_accuracy

X, species = load_penguins()
model = PCKID(n_clusters=3, random_state=0).fit(X)
print("rows in each cluster:", [int((model.labels_ == k).sum()) for k in range(3)])
print(f"agreement with the species: {clustering_accuracy(species, model.labels_):.3f}")
report(model, X, "report-from-python.html")
